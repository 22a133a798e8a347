"""The repeating step is found in the calls of the graphs, and warm-up told from it."""

from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.analysis.source_lines import UserCallSites
from dynamo_core.analysis.time.steps import find_steps, frame_text
from dynamo_core.bench.measured import find_step
from dynamo_core.case import Case
from dynamo_core.model import (
    CallSample,
    CallTimes,
    CompileId,
    Frame,
    Graph,
    Place,
    Process,
    ProfileWindow,
    Recording,
    StackFrame,
)
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.profile.report import steady_state_blocks
from support.made import MS, called

PLACE = Place("/home/user/train.py", 7)


def graph(number: int, times: CallTimes, frame: int | None = None, name: str = "forward") -> Graph:
    compile_id = CompileId(number if frame is None else frame, number)
    made = Graph(number, compile_id, 0, None, None, 1, is_compiled=True, times=times)
    made.frame_name, made.frame_place = name, PLACE
    return made


def process(graphs: list[Graph], compiled_at_ms: float = 0) -> Process:
    frame = Frame("f", PLACE, "compiled", None, True, False, None, ended_ns=int(compiled_at_ms * MS))
    return Process(Path("s.log"), graphs=graphs, frames=[frame])


def test_one_graph_a_step() -> None:
    steps = find_steps(process([graph(1, called([5 + 10 * i for i in range(20)]))], compiled_at_ms=30))
    assert steps is not None
    assert steps.warm_up == (3, 3)
    assert steps.mean == pytest.approx(0.010)
    assert (steps.steady, steps.block_size) == (16, 1)
    assert steps.first[0] == pytest.approx(0.010)


def test_a_layer_called_twelve_times_a_step_is_no_step() -> None:
    embedding = graph(1, called([100.0 * i for i in range(1, 21)], 1e-4))
    layer = graph(2, called([100.0 * i + 2 * k for i in range(1, 21) for k in range(1, 13)], 2e-3))
    steps = find_steps(process([layer, embedding]))
    assert steps is not None
    assert steps.graph.number == 1
    assert steps.mean == pytest.approx(0.1)


def test_a_step_is_all_that_is_called_between_two_calls_of_the_outermost_graph() -> None:
    """Six blocks share a function, and follow each other evenly: five of them have a graph in common."""
    first = graph(1, called([60.0 * i for i in range(1, 31)]), frame=0)
    others = graph(2, called([60.0 * i + 10 * k for i in range(1, 31) for k in range(1, 6)]), frame=0)
    steps = find_steps(process([first, others]))
    assert steps is not None and steps.graph.number == 1
    assert steps.mean == pytest.approx(0.06)
    head = graph(3, called([60.0 * i + 58 for i in range(1, 31)]), name="head")
    steps = find_steps(process([first, others, head]))
    assert steps is not None and steps.graph.number == 3, "calls of its function are the steps"


def test_of_graphs_that_are_called_alike_the_first_begins_the_step() -> None:
    """The last one was compiled within the first step, so that it has a call more after that."""
    parts = [graph(n, called([100.0 * i + n for i in range(1, 21)]), name=f"part {n}") for n in range(1, 7)]
    steps = find_steps(process(parts, compiled_at_ms=105.5))
    assert steps is not None and steps.graph.number == 1


def test_what_is_called_between_now_more_often_now_less_is_no_part_of_a_step() -> None:
    """As tokens are decoded: so many for one request, and fewer for another."""
    prefill = graph(1, called([100.0 * i for i in range(1, 21)]), name="prefill")
    counts = [3 + i % 4 for i in range(1, 21)]
    moments = [100.0 * i + 20 * k for i, most in enumerate(counts, 1) for k in range(1, most) if k < 5]
    decode = graph(2, called(moments), name="decode")
    steps = find_steps(process([prefill, decode]))
    assert steps is not None and steps.graph.number == 2


def test_an_evaluation_in_between_is_no_step_where_only_the_other_trains() -> None:
    train = replace(graph(1, called([10.0 * i for i in range(1, 201)])), backward=called([1.0]))
    evaluation = graph(2, called([100.0 * i + 5 for i in range(1, 21)]), name="evaluate")
    steps = find_steps(process([train, evaluation]))
    assert steps is not None and steps.graph.number == 1


def test_an_evaluation_now_and_then_is_no_step() -> None:
    train = graph(1, called([10.0 * i for i in range(1, 201)], 5e-3))
    evaluation = graph(2, called([500.0 * i + 5 for i in range(1, 5)], 1e-4))
    steps = find_steps(process([evaluation, train]))
    assert steps is not None
    assert steps.graph.number == 1


def test_calls_before_a_recompile_count_as_warm_up() -> None:
    static = graph(1, called([10.0 * i for i in range(1, 6)]), frame=0)
    dynamic = graph(2, called([10.0 * i for i in range(7, 30)]), frame=0)
    steps = find_steps(process([static, dynamic], compiled_at_ms=65))
    assert steps is not None
    assert (steps.graph.number, steps.warm_up) == (2, (6, 6))


def test_calls_of_another_function_before_a_reset_are_no_warm_up() -> None:
    before = graph(1, called([10.0 * i for i in range(1, 6)]), frame=0, name="evaluate")
    after = graph(2, called([10.0 * i for i in range(7, 30)]), frame=0)
    after.compile_id = CompileId(0, 0, generation=1)  # torch._dynamo.reset() numbers frames anew
    steps = find_steps(process([before, after], compiled_at_ms=65))
    assert steps is not None
    assert (steps.graph.number, steps.warm_up) == (2, (1, 1))


def test_where_not_every_call_was_noted_the_warm_up_is_between_two_numbers() -> None:
    samples = tuple(CallSample(1 + 8 * i, 80 * i * MS, 1e-3) for i in range(40))
    times = CallTimes(320, 0.32, {(1, 2): 320}, (), samples, None)
    steps = find_steps(process([graph(1, times)], compiled_at_ms=100))
    assert steps is not None
    assert steps.warm_up == (9, 16)
    assert steps.block_size == 8
    assert steps.mean == pytest.approx(0.010)


def windowed(begin_ms: float, end_ms: float) -> ProfileWindow:
    begin, end = int(begin_ms * MS), int(end_ms * MS)
    return ProfileWindow(1, 3, 0.3, begin, end, 0, (), (), (), None, 0, None)


def test_steps_under_the_profiler_do_not_count() -> None:
    before, profiled, after = [10.0 * i for i in range(1, 11)], [200.0, 300.0], [310.0, 320.0, 330.0]
    run = process([graph(1, called([*before, *profiled, *after]))])
    run.profiling.window = windowed(105, 295)
    steps = find_steps(run)
    assert steps is not None
    assert steps.spread == (pytest.approx(0.010), pytest.approx(0.010))  # type: ignore[comparison-overlap]
    assert steps.mean == pytest.approx(0.010)
    assert steps.steady == len(steps.blocks) == 8 + 3
    assert "are not among them" in plain_text(
        steady_state_blocks(Case(Recording(Path("r"), None, [run], 1, [])), None)
    )


def test_where_all_steps_were_profiled_none_is_left() -> None:
    run = process([graph(1, called([10.0 * i for i in range(1, 11)]))])
    run.profiling.window = windowed(5, 1000)
    page = plain_text(steady_state_blocks(Case(Recording(Path("r"), None, [run], 1, [])), None))
    assert "outside of the profiled window" in page


def test_a_graph_of_compiled_autograd_is_a_step_only_where_there_is_no_other() -> None:
    backward = graph(1, called([10.0 * i for i in range(1, 41)]), name="compiled autograd")
    backward.compile_id = CompileId(1, 0, autograd=0)
    forward = graph(2, called([10.0 * i for i in range(21, 30)]))
    for graphs, number in (([backward, forward], 2), ([backward], 1)):
        steps = find_steps(process(graphs))
        assert steps is not None
        assert steps.graph.number == number


def test_a_name_that_nothing_has_is_told_from_one_that_is_seldom_called() -> None:
    recording = Recording(Path("r"), None, [process([graph(1, called([1.0, 2.0]))])], None, [])
    assert "is called absent" in plain_text(steady_state_blocks(Case(recording), "absent"))
    assert "no graph below forward is called often enough" in plain_text(
        steady_state_blocks(Case(recording), "forward")
    )


def test_a_frame_of_a_library_is_told_by_the_line_that_calls_it() -> None:
    """As a compiled nn.Sequential is, whose own line is torch's."""
    torchs = Place("/x/lib/python3.11/site-packages/torch/nn/modules/container.py", 248)
    compile_id = CompileId(0, 0)
    called_from = StackFrame(Place("/home/me/train.py", 9), "train", "loss = model(x)")
    tried = Frame("forward", torchs, "compiled", None, True, False, compile_id, method="Sequential.forward")
    first = replace(graph(1, called(range(10)), 0), compile_id=compile_id, frame_place=torchs)
    found = process([first])
    assert frame_text(first, UserCallSites(found)) == "forward (torch/nn/modules/container.py:248)", (
        "the call is not recorded"
    )
    found.frames = [replace(tried, called_from=called_from)]
    first.method = tried.method
    assert frame_text(first, UserCallSites(found)) == "Sequential.forward (called at /home/me/train.py:9)"
    step = find_step(found)
    assert step is not None and (step.place, step.called_at) == (torchs, called_from.place)
    own = replace(first, frame_place=Place("/home/me/train.py", 3))
    assert frame_text(own, UserCallSites(found)) == "Sequential.forward (/home/me/train.py:3)"


def test_too_few_calls_are_no_steps() -> None:
    assert find_steps(process([graph(1, called([1.0, 2.0, 3.0]))])) is None
    assert find_steps(process([])) is None
    recording = Recording(Path("r"), None, [process([])], None, [])
    assert "not found" in plain_text(steady_state_blocks(Case(recording), None))


@pytest.mark.parametrize(
    ("wanted", "number"),
    [("train_step", 2), ("train:train_step", 2), ("other:train_step", None), ("f*", 1), ("absent", None)],
)
def test_a_step_can_be_named_by_a_function_on_the_stack(wanted: str, number: int | None) -> None:
    first = graph(1, called([10.0 * i for i in range(1, 21)]))
    second = graph(2, called([10.0 * i + 5 for i in range(1, 21)]), name="loss")
    run = process([first, second])
    run.callers = {second.compile_id: (StackFrame(PLACE, "train_step", ""),)}
    steps = find_steps(run, wanted)
    assert (steps.graph.number if steps else None) == number
