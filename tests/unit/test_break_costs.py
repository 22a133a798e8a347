"""What a graph break costs: the time from the graph before it to the one behind, at each crossing."""

from pathlib import Path

import pytest

from dynamo_core.analysis.break_costs import BreakCost, break_cost
from dynamo_core.analysis.break_effects import Crossing, DistinctBreak
from dynamo_core.model import CallTimes, CompileId, Graph, GraphBreak, Process
from dynamo_core.model.calls import CallSample

PROCESS = Process(Path("s.log"))
BREAK = GraphBreak("print", (), None)


def graph(number: int, *since: tuple[float | None, int | None], calls: int = 4) -> Graph:
    """The callable of index `number`, whose calls began so long after the end of another one's."""
    samples = tuple(CallSample(n, n, 1.0, seconds, previous) for n, (seconds, previous) in enumerate(since))
    times = CallTimes(calls, 1.0, {}, (), samples, None)
    return Graph(
        number, CompileId(number, 0), 0, None, "eager", 1, calls_index=number, calls=calls, times=times
    )


def crossing(before: Graph, after: Graph, depth: int = 0) -> Crossing:
    return Crossing(PROCESS, before.compile_id, (before,), (after,), (before,), depth)


def cost(*crossings: Crossing) -> BreakCost:
    return break_cost(DistinctBreak(PROCESS, BREAK, (BREAK,), crossings, ()))


def test_only_what_comes_straight_after_the_graph_before_it_is_of_the_break() -> None:
    found = cost(crossing(graph(1), graph(2, (0.5, 1), (0.25, 1), (9.0, 7), (None, None))))
    assert (found.seconds_each, found.timed) == (0.375, 2)
    assert found.seconds == pytest.approx(4 * 0.375)


def test_frames_that_had_inlined_the_function_do_not_count() -> None:
    itself, inlined_by = (
        crossing(graph(1), graph(2, (0.5, 1))),
        crossing(graph(3), graph(4, (9.0, 3)), depth=1),
    )
    assert cost(itself, inlined_by).seconds_each == 0.5


def test_what_was_never_timed_is_not_known() -> None:
    found = cost(crossing(graph(1), graph(2, (None, 1))))
    assert (found.seconds_each, found.seconds, found.timed) == (None, None, 0)
