"""What torch's manager of CUDA graphs decides is recorded: the real one, on stand-ins for a GPU."""

import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch
from torch._dynamo.utils import counters
from torch._guards import CompileId
from torch._inductor import cudagraph_trees, cudagraph_utils

from dynamo_core.capture.probe_guard import ProbeGuard
from dynamo_core.capture.probes import cuda_graphs

STACK = '  File "/home/me/train.py", line 12, in step\n    x.add_(1)\n'


class Written(list[dict[str, Any]]):
    """What a stream would have got, each record with the compile that it names."""

    def record(self, record: Any, compile_id: dict[str, int] | None = None) -> None:
        self.append({**record.payload(), "of": compile_id})

    def events(self) -> list[tuple[Any, ...]]:
        return [(each["what"], each.get("function"), each.get("again")) for each in self]


class RecordedNode:
    """Takes the place of CUDAGraphNode: a recording that fits the addresses that it was made with."""

    def __init__(self, wrapped: Any, graph_id: Any, parent: Any, inputs: list[Any], *_: Any) -> None:
        self.wrapped_function, self.id, self.parent = wrapped, graph_id, parent
        self.children: dict[Any, list[Any]] = {}
        self.cudagraph_managed_idxs: list[int] = []
        self.static_input_data_ptrs = [
            each.data_ptr() if index in wrapped.static_input_idxs else None
            for index, each in enumerate(inputs)
        ]

    def check_invariants(self, inputs: list[Any]) -> Any:
        now = [
            None if address is None else each.data_ptr()
            for address, each in zip(self.static_input_data_ptrs, inputs, strict=True)
        ]
        status = cudagraph_utils.CheckInvariantStatus
        fits = now == self.static_input_data_ptrs
        return (status.SUCCESS if fits else status.StaticInputIdxMismatch), lambda: "moved"

    def mismatched_cudagraph_managed_idxs(self, inputs: list[Any]) -> tuple[int, ...]:
        return ()

    def run_first_inputs(self, inputs: list[Any]) -> list[Any]:
        outputs: list[Any] = self.wrapped_function.model(inputs)
        return outputs

    run = run_first_inputs


class WarmUpNode(RecordedNode):
    """Takes the place of CUDAWarmupNode."""

    def __init__(self, wrapped: Any, *_: Any) -> None:
        self.wrapped_function, self.id = wrapped, None


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Written:
    """The probes installed in torch, each step of the program in a generation of its own."""
    found = Written()
    stream: Any = found
    parts: Any = SimpleNamespace(probes=ProbeGuard(stream))
    manager = cudagraph_trees.CUDAGraphTreeManager
    hooked = [
        (cudagraph_trees, "cudagraphify_impl"),
        (manager, "run_eager"),
        (manager, "record_function"),
        (manager, "check_warn_on_unable_to_start_executing"),
    ]
    logging = [
        "torch._inductor.output_code",
        "torch._inductor.compile_fx",
        "torch._dynamo.backends.cudagraphs",
    ]
    modules = [cudagraph_utils, cudagraph_trees, *map(importlib.import_module, logging)]
    hooked += [(each, cuda_graphs._LOGS_SKIP) for each in modules if hasattr(each, cuda_graphs._LOGS_SKIP)]
    for owner, name in hooked:
        monkeypatch.setattr(owner, name, vars(owner)[name])  # put back behind the test
    cuda_graphs.install(cudagraph_utils, parts)
    cuda_graphs.install_on_trees(cudagraph_trees, parts)
    monkeypatch.setattr(torch, "cuda", MagicMock())
    monkeypatch.setattr(cudagraph_trees, "CUDAGraphNode", RecordedNode)
    monkeypatch.setattr(cudagraph_trees, "CUDAWarmupNode", WarmUpNode)
    return found


def callable_for(
    manager: Any,
    model: Callable[[list[Any]], Any],
    static: tuple[int, ...] = (),
    mutated: tuple[int, ...] = (),
) -> Callable[[list[Any]], Any]:
    """A graph at one size, as torch's `add_function` makes it; each call of it begins a new tree."""
    function = manager.new_func_id()
    manager.ids_to_stack_traces[function] = None
    placeholder = cudagraph_utils.PlaceholderInfo("x", None, [], STACK)
    placeholder.users.append(cudagraph_utils.PlaceholderInfo("add", STACK, [], None))
    wrapped: dict[str, Any] = dict.fromkeys(cudagraph_utils.WrappedFunction.__dataclass_fields__)
    wrapped |= {"model": model, "id": function, "placeholders": [placeholder, placeholder]}
    wrapped |= {"static_input_idxs": static, "mutated_input_idxs": mutated, "constants": ()}
    manager.ids_to_funcs[function] = cudagraph_utils.WrappedFunction(**wrapped)
    manager.id_to_mode[function] = cudagraph_trees.CompilationMode.INFERENCE
    manager.id_to_compile_id[function] = CompileId(frame_id=1, frame_compile_id=2)

    def run(inputs: list[Any]) -> Any:
        manager.current_node, manager.path_state = None, cudagraph_trees.ExecutionState.NONE
        return manager.run(inputs, function)

    return run


def doubled(inputs: list[Any]) -> list[Any]:
    return [each * 2 for each in inputs]


def test_a_graph_is_warmed_up_and_recorded_once_for_each_size(written: Written) -> None:
    manager = cudagraph_trees.CUDAGraphTreeManager(0)
    small, large = callable_for(manager, doubled), callable_for(manager, doubled)
    x = torch.ones(2)
    for call in (small, small, small, large, large, large):
        assert torch.equal(call([x])[0], x * 2)
    assert written.events() == [
        ("warmed up", 0, None),
        ("recorded", 0, None),
        ("warmed up", 1, None),
        ("recorded", 1, None),
    ]
    assert {each["part"] for each in written} == {1}
    assert all(each["of"] == {"frame_id": 1, "frame_compile_id": 2} for each in written)
    assert all(each["ns"] > 0 for each in written if each["what"] == "recorded")


def test_an_input_that_has_moved_is_named_by_the_line_that_reads_it(written: Written) -> None:
    manager = cudagraph_trees.CUDAGraphTreeManager(0)
    step = callable_for(manager, doubled, static=(0,))
    first, second = torch.ones(2), torch.ones(2)
    for x in (first, first, second, first):
        step([x])
    assert written.events() == [
        ("warmed up", 0, None),
        ("recorded", 0, None),
        ("recorded", 0, "an input at another address"),
    ]
    line = written[-1]["line"]
    assert (line["file"], line["line"]) == ("/home/me/train.py", 12)


def test_what_was_recorded_elsewhere_in_the_tree_came_in_another_order(written: Written) -> None:
    manager = cudagraph_trees.CUDAGraphTreeManager(0)
    step = callable_for(manager, doubled)
    for _ in range(3):
        step([torch.ones(2)])
    manager.roots.clear()
    step([torch.ones(2)])
    assert written.events()[2:] == [("recorded", 0, "another order")]


def test_a_skip_in_a_call_names_the_line_and_the_compile(written: Written) -> None:
    manager = cudagraph_trees.CUDAGraphTreeManager(0)
    writes = callable_for(manager, doubled, mutated=(0,))
    skips = counters["inductor"]["cudagraph_skips"]
    for _ in range(3):
        writes([torch.ones(2)])
    (skip,) = written
    assert skip["what"] == "skipped"
    assert skip["reason"] == "skipping cudagraphs due to mutated inputs (1 instances)"
    assert (skip["line"]["file"], skip["line"]["line"]) == ("/home/me/train.py", 12)
    assert skip["of"] == {"frame_id": 1, "frame_compile_id": 2}
    assert counters["inductor"]["cudagraph_skips"] == skips + 1


@pytest.mark.parametrize(
    ("words", "reason", "line"),
    [
        ("skipping cudagraphs due to bisector", "skipping cudagraphs due to bisector", None),
        (
            f"skipping cudagraphs due to cpu device (a). Found from : \n {STACK}",
            "skipping cudagraphs due to cpu device (a)",
            12,
        ),
        (f"disabling cudagraphs due to incompatible op o Found from {STACK}\n", None, 12),
        (
            "skipping cudagraph due to function 3 on cudagraph node None due to static input data pointer "
            f"changed.\ninput name: p. data pointer changed from 1 to 2. input stack trace: {STACK}\n.",
            "skipping cudagraph due to function 3 on cudagraph node None due to static input data pointer "
            "changed",
            12,
        ),
    ],
)
def test_torchs_reason_is_kept_without_its_stack(
    words: str, reason: str | None, line: int | None, written: Written
) -> None:
    for module in ("cudagraph_utils", "output_code"):
        importlib.import_module(f"torch._inductor.{module}").log_cudagraph_skip_and_bump_counter(words)
    assert len(written) == 2
    for skip in written:
        assert skip["reason"] == (reason or "disabling cudagraphs due to incompatible op o")
        assert (skip["line"] and skip["line"]["line"]) == line


def test_that_it_never_gets_beyond_warming_up_is_torchs_own_verdict(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager: Any = cudagraph_trees.CUDAGraphTreeManager(0)
    callable_for(manager, doubled)
    (function,) = manager.ids_to_funcs
    manager.warned_functions.add(function)
    manager.check_warn_on_unable_to_start_executing(function)
    assert written == []
    manager.warned_functions.clear()
    monkeypatch.setattr(manager, "in_new_torch_compile_invocation", lambda *_: True)
    node = SimpleNamespace(wrapped_function=manager.ids_to_funcs[function], parent=None)
    manager.current_node = SimpleNamespace(_path_from_root=[node, node], parent=None)
    with pytest.warns(UserWarning, match="Unable to hit fast path"):
        manager.check_warn_on_unable_to_start_executing(function)
    (skip,) = written
    assert (skip["what"], skip["function"]) == ("skipped", 0)
    assert "still require backward" in skip["reason"]


def test_a_graph_that_is_warmed_up_at_each_call_says_so_once(written: Written) -> None:
    manager: Any = cudagraph_trees.CUDAGraphTreeManager(0)
    callable_for(manager, doubled)
    (function,) = manager.ids_to_funcs
    manager.compile_id = None  # torch sets it in `run`
    for _ in range(9):
        manager.current_node, manager.path_state = None, cudagraph_trees.ExecutionState.NONE
        manager.run_eager([torch.ones(2)], function)
    assert written.events() == [("warmed up", 0, None), ("skipped", 0, None)]
    assert written[-1]["reason"] == "outputs of an earlier call are alive at each call"


def test_another_torch_harms_nothing(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_graphs, "_compile_id", lambda *_: 1 / 0)
    manager = cudagraph_trees.CUDAGraphTreeManager(0)
    step, writes = callable_for(manager, doubled), callable_for(manager, doubled, mutated=(0,))
    for call in (step, step, step, writes):
        assert torch.equal(call([torch.ones(2)])[0], torch.full((2,), 2.0))
    assert [each["probe"] for each in written] == ["CUDA graphs"]
