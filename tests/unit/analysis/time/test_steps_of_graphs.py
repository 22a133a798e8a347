"""The time of each graph, its share of all, and when calling it costs more than what it does."""

import pytest

from dynamo_core.analysis.time.steps import GraphTime, first_call, graph_times, steady_mean
from dynamo_core.model import CallSample, CallTimes, CompileId, Recording
from support.made import of_one_process
from support.made_findings import graph, times

US = 1e-6
FIRST = CompileId(0, 0)


def spread(calls: int, fast: float, slow: float, *, guards: float | None = None) -> CallTimes:
    """Calls of which the first half took `fast` seconds, and the rest `slow`: all noted."""
    seconds = [fast] * (calls // 2) + [slow] * (calls - calls // 2)
    samples = tuple(CallSample(number, number, each) for number, each in enumerate(seconds, 1))
    return CallTimes(calls, sum(seconds), {}, samples, samples, guards)


def timed(calls: CallTimes, backward: CallTimes | None = None) -> GraphTime:
    process = of_one_process().processes[0]
    return GraphTime(process, graph(1, FIRST, times=calls, backward=backward), 1.0)


@pytest.mark.parametrize(
    ("calls", "is_bound"),
    [
        (spread(100, 19 * US, 19 * US), True),
        (spread(99, 19 * US, 19 * US), False),
        (spread(100, 20e-6, 20e-6), False),
        (spread(100, 1 * US, 99 * US), True),  # a busy machine
        (spread(101, 1 * US, 101 * US), False),
        (spread(100, 50 * US, 50 * US, guards=51 * US), True),
        (spread(100, 50 * US, 50 * US, guards=50 * US), False),
        (spread(99, 50 * US, 50 * US, guards=51 * US), False),
        (CallTimes(100, 1.0, {}, (), (), 51 * US), False),  # none timed
    ],
)
def test_a_graph_is_bound_by_overhead_where_it_is_called_often_for_little(
    calls: CallTimes, is_bound: bool
) -> None:
    assert timed(calls).is_overhead_bound is is_bound


def test_guards_that_were_not_timed_are_not_costlier() -> None:
    assert not timed(spread(2, US, US)).has_costlier_guards
    assert timed(spread(2, US, US, guards=2 * US)).has_costlier_guards


def test_a_graph_has_the_time_of_its_backward_and_any_of_both_on_a_device() -> None:
    on_device = CallTimes(1, 2.0, {}, (), (), None, device_seconds=1.0, device_samples=1)
    host = times(3, 1.0)
    assert (timed(host).seconds, timed(host, times(3, 2.0)).seconds) == (3.0, 9.0)
    assert not timed(host, host).has_device_time and not timed(host).has_device_time
    assert timed(on_device).has_device_time and timed(host, on_device).has_device_time


def test_graphs_that_were_called_are_listed_by_their_time_with_their_share_of_it() -> None:
    graphs = [
        graph(1, FIRST, times=times(1, 1.0)),
        graph(2, FIRST, times=times(1, 2.0), backward=times(1, 3.0)),
        graph(3, FIRST),
        graph(4, FIRST, times=times(2, 1.0)),
    ]
    found = graph_times(of_one_process(graphs=graphs))
    assert [(each.graph.number, each.share) for each in found] == [(2, 0.625), (4, 0.25), (1, 0.125)]
    assert graph_times(of_one_process()) == []


def test_the_steady_mean_leaves_the_first_call_out_and_is_none_of_one_call() -> None:
    def of(calls: int, seconds: float, first: float | None) -> CallTimes:
        early = () if first is None else (CallSample(1, 0, first),)
        return CallTimes(calls, seconds, {}, early, (), None)

    assert steady_mean(of(3, 10.0, 4.0)) == 3.0
    assert steady_mean(of(2, 1.0, 4.0)) == 0.0
    assert steady_mean(of(1, 4.0, 4.0)) is steady_mean(of(3, 4.0, None)) is None
    assert (first_call(of(3, 10.0, 4.0)), first_call(of(3, 10.0, None))) == (4.0, None)


def test_graphs_of_several_processes_share_the_time_of_all() -> None:
    recording: Recording = of_one_process(graphs=[graph(1, FIRST, times=times(1, 1.0))])
    recording.processes += of_one_process(graphs=[graph(1, FIRST, times=times(1, 3.0))]).processes
    assert [each.share for each in graph_times(recording)] == [0.75, 0.25]


@pytest.mark.parametrize(
    ("share", "seconds"),
    [(0.0, 1.0), (0.1, 1.0), (0.25, 1.0), (0.26, 2.0), (0.5, 2.0), (0.75, 3.0), (1.0, 4.0)],
)
def test_a_percentile_of_calls_that_were_all_noted_is_one_of_them(share: float, seconds: float) -> None:
    early = tuple(CallSample(number, 0, float(each)) for number, each in enumerate((4, 2, 3, 1), 1))
    assert CallTimes(4, 10.0, {}, early, (), None).percentile(share) == seconds
    assert CallTimes(5, 10.0, {}, early, (), None, untimed=1).percentile(share) == seconds


def test_a_percentile_of_more_calls_is_the_middle_of_a_bucket_and_of_none_is_none() -> None:
    histogram = {(20, 40): 2, (0, 20): 8}
    calls = CallTimes(10, 1.0, histogram, (), (), None)
    found = [calls.percentile(share) for share in (0.1, 0.8, 0.81, 1.0)]
    assert found == [10e-9, 10e-9, 30e-9, 30e-9]
    assert CallTimes(0, 0.0, {}, (), (), None).percentile(0.5) is None
    assert CallTimes(3, 0.0, {}, (), (), None, untimed=3).percentile(0.5) is None
    assert CallTimes(3, 0.0, {}, (), (), 0.5).guard_seconds_in_all == 1.5
    assert CallTimes(3, 0.0, {}, (), (), None).guard_seconds_in_all is None
