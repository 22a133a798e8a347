"""What a profiler's trace says, from traces written by hand."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.model import CompileId, Graph, GraphPart, Node, Place, Process, Stage
from dynamo_core.recording.kernels import KernelSources
from dynamo_core.recording.profile_trace import Steps, read_steps
from dynamo_core.recording.trace_format import Damaged
from dynamo_core.recording.window import add_window
from dynamo_core.shared.records import WindowNoted

FORWARD, BACKWARD = GraphPart(1, False), GraphPart(1, True)
Event = dict[str, Any]
Write = Callable[..., Path]


def op(name: str, start: float, duration: float, tid: int = 1, **args: Any) -> Event:
    category = args.pop("cat", "cpu_op")
    return {"ph": "X", "cat": category, "name": name, "pid": 9, "tid": tid, "ts": start, "dur": duration} | {
        "args": {
            key.replace("_", " ") if key != "kernel_num_gb" else key: value for key, value in args.items()
        }
    }


def graph(start: float, duration: float = 50, *, number: int = 1) -> Event:
    return op(f"dynamo graph {number} [0/0]", start, duration)


def span(end: float) -> Event:
    return {
        "ph": "X",
        "cat": "Trace",
        "name": "PyTorch Profiler (0)",
        "pid": "Spans",
        "tid": "x",
        "ts": 0,
    } | {"dur": end}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_trace(*events: Any, name: str = "dynamo_profile_1_times_1.json.gz") -> Path:
        path = tmp_path / name
        path.write_bytes(gzip.compress(json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()))
        return path

    return write_trace


def steps_of(path: Path, warm_up: int = 0, is_last_whole: bool = True) -> Steps:
    return read_steps(path, 1, warm_up, is_last_whole, {"0/0": 1})


def test_operators_in_and_outside_of_a_graph(write: Write) -> None:
    steps = steps_of(
        write(
            span(200),
            graph(0),
            op("aten::addmm", 10, 20),
            op("aten::copy_", 15, 5),
            op("aten::sort", 60, 30),
            op("aten::copy_", 70, 10),
            graph(100),
            op("Torch-Compiled Region: 0/0", 101, 10),
        )
    )
    assert (steps.steps, steps.duration, steps.damaged) == (2, 200, 0)
    totals = steps.parts[FORWARD]
    assert (totals.duration, totals.operator_calls, totals.operator_duration) == (100, 1, 20)
    assert steps.operators == {
        ("aten::addmm", FORWARD): [1, 15, 20],
        ("aten::copy_", FORWARD): [1, 5, 5],
        ("aten::sort", None): [1, 20, 30],
        ("aten::copy_", None): [1, 10, 10],
    }
    assert [(call.name, call.step, call.duration) for call in steps.eager] == [("aten::sort", 0, 30)]


def test_warm_up_and_a_step_that_was_cut(write: Write) -> None:
    path = write(span(350), *(graph(start) for start in (0, 100, 200, 300)), op("aten::sort", 60, 1))
    steps = steps_of(path, warm_up=1, is_last_whole=False)
    assert (steps.steps, steps.duration, steps.eager) == (2, 200, [])
    assert len(steps.parts[FORWARD].spans) == 2


@pytest.mark.parametrize("end", [50, 49, 0])
def test_a_trace_that_ends_as_its_first_step_begins_has_none(end: float, write: Write) -> None:
    with pytest.raises(Damaged, match="no whole step"):
        steps_of(write(span(end), graph(50, 0)))
    with pytest.raises(Damaged, match="no whole step"):
        steps_of(write(span(200), graph(50), graph(50)), is_last_whole=False)


def test_threads_do_not_nest_in_each_other(write: Write) -> None:
    steps = steps_of(write(span(100), graph(0, 90), op("aten::sort", 10, 5, tid=2)))
    assert [(call.name, call.thread) for call in steps.eager] == [("aten::sort", ("9", "2"))]


def test_a_graph_within_a_graph(write: Write) -> None:
    steps = steps_of(write(span(100), graph(0, 90), graph(20, 30, number=2), op("aten::mm", 25, 5)))
    assert steps.parts[FORWARD].duration == 60
    assert steps.parts[GraphPart(2, False)].duration == 30
    assert steps.operators == {("aten::mm", GraphPart(2, False)): [1, 5, 5]}


def test_a_backward_is_of_the_graph_with_its_sequence_number(write: Write) -> None:
    node = "autograd::engine::evaluate_function: CompiledFunctionBackward"
    steps = steps_of(
        write(
            span(100),
            graph(0),
            op("CompiledFunction", 5, 40, Sequence_number=7),
            op(node, 60, 30, tid=2, Sequence_number=7),
            op("CompiledFunctionBackward", 61, 28, tid=2, Sequence_number=7),
            op("dynamo backward of graph - [0/0]", 62, 20, tid=2),
            op("aten::mm", 65, 5, tid=2),
        )
    )
    assert set(steps.parts) == {FORWARD, BACKWARD}
    assert (steps.parts[BACKWARD].duration, len(steps.parts[BACKWARD].spans)) == (30, 1)
    assert steps.operators == {("aten::mm", BACKWARD): [1, 5, 5]}


def test_lines_of_the_program(write: Write) -> None:
    steps = steps_of(
        write(
            op("dynamo line /x.py:3", -5, 0.1),
            span(100),
            graph(0),
            op("aten::sort", 55, 5, Sequence_number=4),
            op("dynamo line /x.py:4", 61, 0.1),
            op("aten::add", 62, 5),
            op("autograd::engine::evaluate_function: SortBackward0", 70, 9, tid=2, Sequence_number=4),
            op("aten::mul", 71, 5, tid=2),
        )
    )
    places = {call.name: call.place for call in steps.eager}
    first, second = Place("/x.py", 3), Place("/x.py", 4)
    assert places == {"aten::sort": first, "aten::add": second, "aten::mul": first}


STEP = "Optimizer.step#AdamW.step"
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def mark(name: str, start: float, duration: float) -> Event:
    """What torch marks itself (record_function)."""
    return op(name, start, duration, cat="user_annotation")


def test_what_torch_marks_itself_is_no_operator(write: Write) -> None:
    steps = steps_of(
        write(
            span(200),
            graph(0),
            op("dynamo line /x.py:3", 59, 0.1),
            mark(STEP, 60, 20),
            op("aten::add_", 65, 5),
            op("dynamo line /x.py:4", 84, 0.1),
            mark(LOADER, 85, 10),
            graph(100),
            op("dynamo line /x.py:3", 159, 0.1),
            mark(STEP, 160, 10),
            mark("Optimizer.zero_grad#AdamW.zero_grad", 180, 10),
            mark("my own name", 190, 5),
        )
    )
    totals = {key: (of.calls, of.duration, of.in_graphs, [*of.places]) for key, of in steps.spans.items()}
    assert totals == {
        ("optimizer step", "AdamW"): (2, 30, 0, [Place("/x.py", 3)]),
        ("loader", "_SingleProcessDataLoaderIter"): (1, 10, 0, [Place("/x.py", 4)]),
    }
    assert [call.name for call in steps.eager] == ["aten::add_"]
    assert set(steps.operators) == {("aten::add_", None)}
    assert not steps_of(write(span(200), graph(0), op("aten::add_", 65, 5))).spans


def test_a_step_does_not_count_what_is_in_it_twice(write: Write) -> None:
    """One that is made of another or of its own class's; one whose closure calls graphs and a loader."""
    steps = steps_of(
        write(
            span(200),
            graph(0),
            mark("Optimizer.step#Sam.step", 55, 20),
            mark(STEP, 60, 10),
            mark(STEP, 62, 5),
            mark("Optimizer.step#LBFGS.step", 90, 100),
            mark(LOADER, 95, 4),
            graph(100, 50),
            graph(120, 20, number=2),
            graph(160, 20, number=2),
        )
    )
    totals = {name: (of.calls, of.duration, of.in_graphs) for (_, name), of in steps.spans.items()}
    assert totals == {
        "Sam": (1, 10, 0),
        "AdamW": (1, 10, 0),
        "LBFGS": (1, 96, 70),
        "_SingleProcessDataLoaderIter": (1, 4, 0),
    }


def test_of_a_step_that_began_before_the_window_what_is_in_the_window_counts(write: Write) -> None:
    steps = steps_of(write(span(300), mark(STEP, -50, 250), graph(0), graph(100), mark(STEP, -90, 20)))
    totals = steps.spans["optimizer step", "AdamW"]
    assert (totals.calls, totals.duration, totals.in_graphs) == (1, 200, 100)


def test_events_that_begin_and_end_together(write: Write) -> None:
    steps = steps_of(write(span(100), graph(0), op("CompiledFunction", 0, 50, Sequence_number=7)))
    assert steps.parts[FORWARD].duration == 50


def test_kernels_are_of_what_launched_them(write: Write) -> None:
    def kernel(name: str, start: float, correlation: int, **args: Any) -> Event:
        return op(name, start, 4, tid=7, cat="kernel", correlation=correlation, device=0, **args)

    def launch(name: str, start: float, correlation: int) -> Event:
        return op(name, start, 2, cat="cuda_runtime", correlation=correlation)

    steps = steps_of(
        write(
            span(200),
            graph(0),
            launch("cudaLaunchKernel", 5, 1),
            graph(100),
            op("triton_poi_fused_relu_0", 104, 5, External_id=50, kernel_num_gb=0.002),
            launch("cuLaunchKernel", 105, 2),
            launch("cudaGraphLaunch", 120, 3),
            op("aten::sort", 160, 20),
            launch("cudaLaunchKernel", 165, 4),
            kernel("of the warm-up", 110, 1),
            kernel("triton_poi_fused_relu_0", 190, 2, External_id=50),
            kernel("replayed", 210, 3),
            kernel("replayed", 220, 3),
            kernel("sorting", 230, 4),
            op("Memcpy HtoD", 150, 2, tid=7, cat="gpu_memcpy", correlation=99, device=0, bytes=64),
        ),
        warm_up=1,
    )
    assert steps.kernels == {
        ("triton_poi_fused_relu_0", FORWARD, "cuda:0"): [1, 4],
        ("replayed", FORWARD, "cuda:0"): [2, 8],
        ("sorting", None, "cuda:0"): [1, 4],
        ("Memcpy HtoD", None, "cuda:0"): [1, 2],
    }
    assert steps.kernel_bytes == {
        ("triton_poi_fused_relu_0", FORWARD, "cuda:0"): 2_000_000,
        ("Memcpy HtoD", None, "cuda:0"): 64,
    }
    totals = steps.parts[FORWARD]
    assert (totals.kernels, totals.kernel_duration, totals.graph_launches) == (3, 12, 1)
    assert [call.kernel_duration for call in steps.eager] == [4]


def test_memory_that_a_call_needs(write: Write) -> None:
    def allocation(time: float, total: int, change: int) -> Event:
        arguments = {"Total Allocated": total, "Bytes": change, "Device Type": 1, "Device Id": 0}
        return {"ph": "i", "name": "[memory]", "pid": 9, "tid": 1, "ts": time, "args": arguments}

    steps = steps_of(
        write(
            span(100),
            allocation(-1, 100, 100),
            graph(0),
            allocation(10, 140, 40),
            allocation(20, 170, 30),
            allocation(30, 130, -40),
            allocation(60, 900, 770),
        )
    )
    assert steps.extra_bytes == {FORWARD: {"cuda:0": 70}}
    assert steps.memory == {"cuda:0": (800, 800)}
    freed = steps_of(write(span(100), allocation(-1, 100, 100), graph(0), allocation(10, 60, -40)))
    assert freed.memory == {"cuda:0": (0, -40)}
    assert steps_of(write(span(100), graph(0))).memory == {}


@pytest.mark.parametrize(
    "event",
    [
        {"ph": "X"},
        op("aten::sort", 10, 5) | {"ts": "soon"},
        op("aten::sort", 10, 5) | {"ts": None},
        op("aten::sort", 10, 5) | {"args": "none"},
        op("aten::sort", 10, 5) | {"dur": 1e300},
        op("aten::sort", 10, 5) | {"name": ["a"]},
        op("x", 10, 5, cat="cuda_runtime"),
        {"ph": "i", "name": "[memory]", "ts": 3, "args": {"Total Allocated": "much"}},
    ],
)
def test_a_damaged_event_is_counted(event: Event, write: Write) -> None:
    steps = steps_of(write(span(100), graph(0), event))
    assert (steps.steps, steps.damaged, steps.eager) == (1, 1, [])


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b'{"traceEvents": [', b'{"traceEvents": [{"ph": ', b'{"traceEvents": []}', b"[" * 100_000],
)
def test_a_damaged_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(Damaged):
        steps_of(path)


def test_what_is_no_gzip(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(b"plain")
    with pytest.raises(Damaged):
        steps_of(path)


TIMES = {
    "kind": "times",
    "anchor": 1,
    "warm_up_steps": 0,
    "is_last_step_whole": True,
    "compiles": 0,
    "has_device": False,
    "has_memory": False,
    "has_lines": False,
    "begin_ns": 1,
    "end_ns": 2,
    "error": None,
}


def _process_with(folder: Path, *records: dict[str, Any]) -> Process:
    process = Process(folder / "stream.log")
    add_window(process, [WindowNoted(**record) for record in records], folder)
    return process


def test_lines_are_given_to_the_steps_that_were_timed(write: Write, tmp_path: Path) -> None:
    sorts = (op("aten::sort", 60, 5), op("aten::sort", 80, 7))
    times = write(span(200), graph(0), *sorts, graph(100), op("aten::sort", 160, 5), op("aten::add", 170, 1))
    lines = write(
        span(100),
        graph(0),
        op("dynamo line x.py:5", 55, 0),
        sorts[0],
        op("dynamo line x.py:6", 70, 0),
        sorts[1],
        name="dynamo_profile_1_lines_1.json.gz",
    )
    process = _process_with(
        tmp_path,
        TIMES | {"file": times.name},
        TIMES | {"kind": "lines", "file": lines.name, "has_lines": True},
        {"kind": "end", "why_none": None, "cuda_graphs": {"cudagraph_skips": 2}},
    )
    assert process.profiling.window is not None and process.profiling.window.lines_problem is None
    calls = {(operator.name, operator.place): operator.calls for operator in process.profiling.window.eager}
    assert calls == {
        ("aten::sort", Place("x.py", 5)): 1,
        ("aten::sort", Place("x.py", 6)): 1,
        ("aten::sort", None): 1,  # of the step that went another way
        ("aten::add", None): 1,
    }
    assert process.profiling.cuda_graph_counters == {"cudagraph_skips": 2}


@pytest.mark.parametrize(
    ("end", "problem"),
    [
        (
            [{"kind": "end", "why_no_lines": "graph 1, which begins a step, was not called again"}],
            "graph 1, which",
        ),
        ([{"kind": "end"}], "the step that they are taken in was not recorded"),
        ([], "the process ended abruptly before they were"),
    ],
)
def test_why_there_are_no_lines(
    write: Write, end: list[dict[str, Any]], problem: str, tmp_path: Path
) -> None:
    times = write(span(100), graph(0), op("aten::sort", 60, 5))
    process = _process_with(tmp_path, TIMES | {"file": times.name}, *end)
    assert process.profiling.window is not None
    assert (process.profiling.window.lines_problem or "").startswith(problem)


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        ([{"kind": "end", "why_none": "nothing was compiled"}], "nothing was compiled"),
        ([{"kind": "opened"}], "the process ended abruptly while it was open"),
        ([TIMES | {"file": "../../etc/passwd"}], "its trace cannot be read: it is not there"),
        ([TIMES | {"error": "OSError: disk full"}], "its trace cannot be read: OSError: disk full"),
        ([TIMES | {"anchor": None}], None),
        ([{"kind": "times"}], None),
    ],
)
def test_why_there_is_no_window(records: list[dict[str, Any]], problem: str | None, tmp_path: Path) -> None:
    process = _process_with(tmp_path, *records)
    assert process.profiling.window is None and process.profiling.problem is not None
    assert problem in (None, process.profiling.problem)


def test_a_window_of_which_not_all_is_said_is_damage(write: Write, tmp_path: Path) -> None:
    path = write(span(100), graph(0))
    process = _process_with(tmp_path, TIMES | {"file": path.name, "compiles": None})
    assert process.profiling.window is None and process.health.damaged_records == 1


def test_what_the_profiler_took_is_not_zero_where_it_was_not_recorded(tmp_path: Path) -> None:
    assert _process_with(tmp_path, {"kind": "opened"}).profiling.seconds is None
    timed = [{"kind": "opened", "own_ns": 5_000_000}, {"kind": "end", "own_ns": 2_000_000_000}]
    assert _process_with(tmp_path, *timed).profiling.seconds == 2


CODE = """
# kernel path: /tmp/x.py
# Topologically Sorted Source Nodes: [add, relu], Original ATen: [aten.add, aten.relu]
# Source node to ATen node mapping:
#   add => add
triton_poi_fused_add_relu_0 = async_compile.triton('triton_poi_fused_add_relu_0', '''
''')
triton_unknown_1 = async_compile.triton('triton_unknown_1', '''
''')
"""


def test_nodes_and_lines_behind_a_kernel() -> None:
    process, compile_id, line = Process(Path("x")), CompileId(0, 0), Place("x.py", 3)
    nodes = (Node("call_function", "add", "add", "", "", place=line), Node("output", "output", "", "", ""))
    process.graphs.append(Graph(1, compile_id, 0, None, None, 1, nodes))
    process.stages.append(Stage("inductor_output_code", compile_id, CODE))
    sources = KernelSources(process)
    assert sources.of("triton_poi_fused_add_relu_0", FORWARD) == (("add", "relu"), (line,))
    assert sources.of("triton_unknown_1", FORWARD) == ((), ())
    assert sources.of("triton_poi_fused_add_relu_0", None) == ((), ())
