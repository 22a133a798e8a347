"""What records of graphs, of symbols and of look-ups in caches make, and which compile each is of."""

from typing import Any

import pytest

from dynamo_core.model import (
    AssignedBackend,
    CacheLookup,
    CompileId,
    DeclinedBy,
    GraphModes,
    LayerCount,
    OperatorSource,
    Place,
    Process,
    TensorInfo,
    UnrolledLoop,
)
from dynamo_core.recording.graphs import nodes_of_graph
from dynamo_core.shared import names
from support.trace_bytes import FRAME, NO_FRAME, artifact, process_of, record

FIRST = CompileId(0, 0)
STARTED = artifact(names.PROCESS_START, {"argv": ["x.py"], "torch": "2.13.0", "pid": 2350})
AGAIN = {**FRAME, "frame_compile_id": 1}
FILE = record({"str": ["/x/train.py", 0]})
NODE = {
    "op": "call_function",
    "name": "add",
    "target": "add",
    "args": "(x, 1)",
    "kwargs": "{}",
    "inputs": ["x"],
}
TENSOR = {"shape": [2, "s0"], "stride": None, "dtype": "torch.float32", "device": "cpu"}


def handed(number: int = 1, ids: Any = FRAME, **more: Any) -> bytes:
    content = {"graph": number, "name": None, "backend": "eager", "ops": 1, "nodes": [], **more}
    return artifact(names.FX_GRAPH, content, ids)


def read(*records: bytes, ours: bool = True, contents: Any = (), damaged: int = 0) -> Process:
    process = process_of(*((STARTED,) if ours else ()), FILE, *records, contents=contents)
    assert process.health.damaged_records == damaged
    return process


def test_what_a_graph_was_handed_over_with_is_read_and_what_was_not_recorded_is_none() -> None:
    modes = {"grad_enabled": True, "autocast": {"cuda": "bfloat16"}, "float32_matmul_precision": "high"}
    loop = {"file": "/x/a.py", "line": 3, "text": "for", "ops": 60, "times": 12, "is_loop": False}
    operator = {"ns::op": {"file": "/x/b.py", "line": 4, "module": None}}
    known = handed(
        key="k",
        trains=True,
        threads=2,
        modes=modes,
        loop={**loop, "called_from": ["/x/train.py", 9]},
        custom_operators=operator,
        optimizer_steps=[],
    )
    full, bare = read(known, handed(2), contents={names.FX_GRAPH}).graphs
    assert (full.key, full.trains, full.threads, full.optimizer_steps) == ("k", True, 2, ())
    assert full.modes == GraphModes(True, {"cuda": "bfloat16"}, "high", None)
    assert full.loop == UnrolledLoop(Place("/x/a.py", 3), "for", 60, 12, False, Place("/x/train.py", 9))
    assert full.custom_operators == {"ns::op": OperatorSource(Place("/x/b.py", 4), None)}
    assert (bare.modes, bare.loop, bare.optimizer_steps, bare.custom_operators) == (None, None, None, {})
    assert not full.is_compiled and full.attempt == 0


@pytest.mark.parametrize(
    ("contents", "are_read"),
    [((), False), ({names.FX_GRAPH}, True), ({nodes_of_graph("k")}, True), ({nodes_of_graph("j")}, False)],
)
def test_nodes_are_read_of_all_graphs_or_of_those_with_a_key_that_is_asked_for(
    contents: Any, are_read: bool
) -> None:
    (graph,) = read(handed(key="k", nodes=[NODE]), contents=contents).graphs
    assert [node.name for node in graph.nodes or ()] == ["add"] * are_read
    assert (graph.nodes is not None) is are_read


@pytest.mark.parametrize(("rank", "target", "are_read"), [(1, "_c10d_functional.x", True), (1, "add", False)])
def test_of_a_rank_the_nodes_of_graphs_with_collectives_are_read_unasked(
    rank: int, target: str, are_read: bool
) -> None:
    begun = record(
        {"dynamo_start": {"stack": [{"line": 3, "name": "f", "filename": 0}]}, "rank": rank, **FRAME}
    )
    graph = handed(nodes=[{**NODE, "target": f"torch.ops.{target}"}])
    assert (read(begun, graph).graphs[0].nodes is not None) is are_read
    assert read(graph).graphs[0].nodes is None


def test_a_node_has_its_tensors_and_its_lines() -> None:
    nodes = [
        {
            **NODE,
            **TENSOR,
            "requires_grad": True,
            "file": "/x/a.py",
            "line": 3,
            "called_from": ["/x/b.py", 4],
        },
        {**NODE, "values": [TENSOR, {"values": [TENSOR, {}]}], "symbol": "s0", "parameter": True},
    ]
    (graph,) = read(handed(nodes=nodes), contents={names.FX_GRAPH}).graphs
    one, several = graph.nodes or ()
    tensor = TensorInfo((2, "s0"), None, "torch.float32", "cpu")
    assert one.tensors == (TensorInfo((2, "s0"), None, "torch.float32", "cpu", True),)
    assert (one.place, one.called_from, one.is_parameter) == (Place("/x/a.py", 3), Place("/x/b.py", 4), False)
    assert several.tensors == (tensor, tensor)
    assert (several.place, several.called_from, several.symbol) == (None, None, "s0")
    assert several.is_parameter and several.inputs == ("x",)


def test_a_graph_is_compiled_when_its_backend_returned_and_keeps_a_name_that_it_had() -> None:
    back = {"graph": 2, "name": None, "specialization": True, "backend_ns": 1_500_000_000, "calls_index": 7}
    first, second = read(handed(1), handed(2, name="g"), artifact(names.GRAPH_COMPILED, back)).graphs
    assert (second.name, second.is_specialization, second.backend_seconds) == ("g", True, 1.5)
    assert (second.calls_index, second.is_compiled) == (7, True)
    assert (first.calls_index, first.is_compiled, first.backend_seconds) == (None, False, None)
    (of_method,) = read(handed(2), artifact(names.GRAPH_COMPILED, back | {"method": "Model.forward"})).graphs
    assert of_method.method == "Model.forward"


def test_who_took_a_graph_is_told_with_those_that_declined() -> None:
    told = {"graph": 1, "by": None, "using": None, "declined": [{"backend": "ofi", "reason": "no"}]}
    (graph,) = read(handed(), artifact(names.GRAPH_TAKEN, told)).graphs
    assert graph.assigned_backend == AssignedBackend(None, None, (DeclinedBy("ofi", "no"),))
    assert read(handed()).graphs[0].assigned_backend is None


def test_a_result_of_another_structure_is_of_its_graph() -> None:
    differs = {"graph": 2, "differs": "the backend returned a Tensor, the graph returns a tuple of 1"}
    first, second = read(handed(1), handed(2), artifact(names.GRAPH_RETURNED, differs)).graphs
    assert (first.returned_otherwise, second.returned_otherwise) == (None, differs["differs"])


def backward(index: int, ids: Any = FRAME) -> bytes:
    return artifact(names.BACKWARD_COMPILED, {"calls_index": index}, ids)


def test_a_backward_is_that_of_its_compile_whichever_came_first() -> None:
    graphs = read(handed(1), handed(2, AGAIN), backward(7), backward(9, NO_FRAME)).graphs
    assert [graph.backward_index for graph in graphs] == [7, None]
    graphs = read(backward(7), backward(8), handed(1), handed(2, AGAIN)).graphs
    assert [graph.backward_index for graph in graphs] == [8, None]


def code(text: str = "class G", ids: Any = FRAME) -> bytes:
    return record({"dynamo_output_graph": {"sizes": {}}, **ids}, text)


def test_the_code_of_a_graph_of_ours_is_what_torch_wrote_just_before_for_the_same_compile() -> None:
    contents = {"dynamo_output_graph"}
    first, second = read(code(), handed(1), handed(2, AGAIN), contents=contents).graphs
    assert (first.code, second.code) == ("class G", None)
    assert read(code(), handed(1)).graphs[0].code is None


def test_in_a_trace_that_is_not_ours_torchs_record_is_the_graph_and_a_later_attempt_replaces_it() -> None:
    later = {**FRAME, "attempt": 1}
    graphs = read(
        code("a"), code("b", later), code("c", AGAIN), ours=False, contents={"dynamo_output_graph"}
    ).graphs
    assert [(graph.number, graph.attempt, graph.code) for graph in graphs] == [(1, 1, "b"), (2, 0, "c")]
    same = read(code("a"), code("b"), ours=False).graphs
    assert [graph.number for graph in same] == [1, 2]
    assert all(graph.is_compiled and graph.ops is None for graph in graphs)


def metrics(**fields: Any) -> bytes:
    return record(
        {
            "compilation_metrics": {"co_name": "g", "co_filename": "/x/a.py", "co_firstlineno": 3, **fields},
            **FRAME,
        }
    )


@pytest.mark.parametrize(
    ("fields", "is_compiled"),
    [
        ({}, True),
        ({"fail_type": "BackendCompilerFailed"}, False),
        ({"fail_type": "InductorError"}, False),
        ({"fail_type": "ValueError"}, True),
    ],
)
def test_in_a_plain_trace_the_metrics_say_what_became_of_the_graph(fields: Any, is_compiled: bool) -> None:
    (graph,) = read(code(), metrics(graph_op_count=4, **fields), ours=False).graphs
    assert (graph.is_compiled, graph.ops, graph.frame_name) == (is_compiled, 4, "g")
    (untouched,) = read(code(ids=AGAIN), metrics(graph_op_count=4), ours=False).graphs
    assert untouched.ops is None
    (ours,) = read(handed(), metrics(graph_op_count=4)).graphs
    assert (ours.ops, ours.frame_name) == (1, None)


def symbol(name: str, stack: Any, **more: Any) -> bytes:
    return record(
        {"create_symbol": {"symbol": name, "val": 5, "source": "L['x']", "user_stack": stack}, **more}
    )


def test_a_symbol_is_at_the_innermost_line_of_the_user() -> None:
    stack = [{"line": line, "name": "f", "filename": 0} for line in (3, 4)]
    with_stack, without = read(symbol("s0", stack, **FRAME), symbol("s1", None)).symbols
    assert (with_stack.place, with_stack.hint, with_stack.compile_id) == (Place("/x/train.py", 4), "5", FIRST)
    assert [frame.place.line for frame in with_stack.stack] == [3, 4]
    assert (without.place, without.stack, without.compile_id) == (None, (), None)


def looked_up(name: str, payload: Any = None, contents: Any = ()) -> CacheLookup:
    told = artifact(name, payload) if payload is not None else record({"artifact": {"name": name}, **FRAME})
    (only,) = read(told, contents=contents).caching.lookups
    return only


@pytest.mark.parametrize(
    ("times", "saved", "took"),
    [
        ({"time_saved_ns": 1_500_000_000, "time_saved_ms": 9}, 1.5, None),
        ({"time_saved_ms": 250, "time_taken_ns": 0}, 0.25, 0.0),
        ({"time_saved_ns": -1, "time_saved_ms": 500}, 0.5, None),
        ({"time_saved_ns": True, "time_taken_ns": "1"}, None, None),
    ],
)
def test_what_a_look_up_saved_or_took_is_in_seconds(
    times: Any, saved: float | None, took: float | None
) -> None:
    found = looked_up("fx_graph_cache_hit", {"key": "k", **times})
    assert (found.saved_seconds, found.took_seconds, found.key) == (saved, took, "k")


def test_look_ups_are_known_by_their_names() -> None:
    assert looked_up("aotautograd_cache_bypass", {"cache_bypass_reason": "why"}).reason == "why"
    empty = looked_up("fx_graph_cache_miss")
    assert (empty.cache, empty.outcome, empty.compile_id, empty.key) == (
        "fx_graph_cache",
        "miss",
        FIRST,
        None,
    )
    assert looked_up("fx_graph_cache_miss", {"cache_status_detailed": 3}).detail is None
    for name, cache, outcome, detail in (
        ("get_local_code_state", "pgo", "hit", "local"),
        ("get_extra_remote_code_state", "pgo", "hit", "remote"),
        ("precompile_cache_bypass", "precompile", "bypass", None),
    ):
        found = looked_up(name, "text")
        assert (found.cache, found.outcome, found.detail) == (cache, outcome, detail)
    assert read(artifact("put_local_code_state", "text")).caching.lookups == []


def kernels(*states: Any) -> list[LayerCount]:
    content = {str(at): {"autotune_cache_state": state} for at, state in enumerate(states)}
    return read(artifact("triton_kernel_info", content)).caching.counts


def test_autotuning_is_counted_by_what_the_cache_said_to_each_kernel() -> None:
    assert kernels("hit", "miss", "hit", "only 1 config", "new") == [
        LayerCount("triton_autotuning", FIRST, 2, 1, unasked=1)
    ]
    assert kernels("new") == [LayerCount("triton_autotuning", FIRST, 0, 0)]
    assert kernels(None, 3) == kernels() == []
    assert read(artifact("triton_kernel_info", "[]"), damaged=1).caching.counts == []


def test_a_pair_with_an_operator_that_is_there_no_times_is_damage() -> None:
    pair: dict[str, Any] = {
        "graph": 1,
        "joint": None,
        "inputs": 1,
        "outputs": 1,
        "tangents": 1,
        "gradients": 1,
        "saved": [],
        "forward": {"mm": 1},
        "backward": {},
        "recomputed": {},
    }
    (found,) = read(artifact(names.AOT_PAIR, pair, {**FRAME, "attempt": 2})).pairs
    assert (found.compile_id, found.attempt, found.joint) == (FIRST, 2, None)
    assert read(artifact(names.AOT_PAIR, {**pair, "recomputed": {"mm": 0}}), damaged=1).pairs == []
    assert read(artifact(names.AOT_PAIR, {**pair, "joint": {"mm": -1}}), damaged=1).pairs == []


@pytest.mark.parametrize("is_of_a_line", [True, False])
def test_a_size_that_no_line_needed_was_needed_by_a_function_of_inductor(is_of_a_line: bool) -> None:
    files = ("/torch/_inductor/graph.py", "/torch/_inductor/kernel/conv.py", "/torch/_inductor/sizevars.py")
    named = [record({"str": [file, number]}) for number, file in enumerate(files, 1)]
    names_of_functions = ("call_function", "convolution_backward_lowering", "guard_int")
    stack = [
        {"line": 9, "name": name, "filename": number, "loc": ""}
        for number, name in enumerate(names_of_functions, 1)
    ]
    line = {"line": 4, "name": "forward", "filename": 0, "loc": "y = conv(x)"}
    content = {
        "sources": ["L['x'].size()[2]"],
        "value": "32",
        "stack": [*stack, {"line": 1, "name": "evaluate_expr", "filename": 7, "loc": ""}],
        "user_stack": [line] if is_of_a_line else None,
    }
    process = read(*named, record({"symbolic_shape_specialization": content, **FRAME}))
    (found,) = process.specializations
    assert found.lowering == (None if is_of_a_line else "convolution_backward")
    assert len(found.stack) == is_of_a_line
