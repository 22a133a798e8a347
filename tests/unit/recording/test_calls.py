"""What the words of a page of counters say of the calls of a callable, and whose calls they are."""

import struct

import pytest

from dynamo_core.model import CallTimes
from dynamo_core.recording.calls import Calls, assign_calls, parse_calls
from dynamo_core.shared import call_pages as at
from support.made import of_one_process
from support.made_findings import graph
from support.made_findings import times as some_calls

EPOCH = 10_000  # what the clock of the file is behind that of the wall
HEADER = {at.MARK: at.FORMAT_MARK, at.PAGES_IN_USE: 1, at.CLOCK_NS: 500, at.CLOCK_EPOCH_NS: 500 + EPOCH}


def written(*pages: dict[int, int], header: dict[int, int] | None = None) -> bytes:
    """A file with this header and these pages, in which what is not given is 0."""
    words: list[int] = []
    for page in ({**HEADER, at.PAGES_IN_USE: len(pages), **(header or {})}, *pages):
        words += [page.get(word, 0) for word in range(at.PAGE_WORDS)]
    return struct.pack(f"={len(words)}q", *words)


def read(*pages: dict[int, int], with_samples: bool = True, header: dict[int, int] | None = None) -> Calls:
    calls = parse_calls(written(*pages, header=header), with_samples=with_samples)
    assert calls is not None
    return calls


def one(page: dict[int, int], *, with_samples: bool = True) -> CallTimes:
    (times,) = read(page, with_samples=with_samples).callables
    return times


def test_the_header_says_what_was_lost_and_what_is_counted_twice() -> None:
    header = {at.LOST_RECORDS: 3, at.LAST_ERRNO: 28, at.OVERLAP_NS: 40, at.COMPILING_NS: 7}
    assert read(header=header) == Calls(3, 28, 40, 7, [])


@pytest.mark.parametrize(("in_use", "are_read"), [(-1, 0), (0, 0), (1, 1), (2, 2), (3, 2), (2**40, 2)])
def test_no_more_pages_are_read_than_are_in_use_and_in_the_file(in_use: int, are_read: int) -> None:
    calls = read({at.TOTAL_NS: 1}, {at.TOTAL_NS: 2}, header={at.PAGES_IN_USE: in_use})
    assert [times.seconds for times in calls.callables] == [1e-9, 2e-9][:are_read]


def test_a_page_that_is_not_all_there_is_not_read() -> None:
    calls = parse_calls(written({at.TOTAL_NS: 1}, {at.TOTAL_NS: 2})[:-1])
    assert calls is not None and len(calls.callables) == 1


def test_a_file_of_the_format_before_is_read_and_of_another_or_without_a_header_is_not() -> None:
    assert parse_calls(written(header={at.MARK: at.FORMAT_MARK - 1})) is not None
    assert parse_calls(written(header={at.MARK: at.FORMAT_MARK - 2})) is None
    assert parse_calls(written()[:-8]) is None


def test_calls_are_those_in_the_buckets_of_times_and_those_that_were_only_counted() -> None:
    first, last = at.FIRST_BUCKET, at.LAST_BUCKET
    times = one({first: 2, last: 1, first + 5: -4, at.UNTIMED: 7, at.SAMPLES: 1})
    assert (times.calls, times.untimed) == (10, 7)
    assert times.histogram == {at.bucket_bounds(first): 2, at.bucket_bounds(last): 1}
    assert one({at.UNTIMED: -7}).calls == 0


@pytest.mark.parametrize(("covered", "seconds"), [(4, 3e-6), (1, 9e-6), (0, 1e-6), (-1, 1e-6)])
def test_calls_that_were_only_counted_took_what_the_timed_calls_after_them_stand_for(
    covered: int, seconds: float
) -> None:
    page = {at.TOTAL_NS: 1_000, at.UNTIMED: 4, at.COVERED: covered, at.COVERED_NS: 2_000}
    assert one(page).seconds == pytest.approx(seconds)


def test_guards_and_the_device_have_the_mean_of_their_samples_and_none_without_any() -> None:
    page = {at.GUARD_NS: 3_000_000, at.GUARD_SAMPLES: 3, at.DEVICE_NS: 8_000_000, at.DEVICE_SAMPLES: 2}
    times = one(page)
    assert (times.guard_seconds, times.device_seconds, times.device_samples) == (1e-3, 4e-3, 2)
    none = one({at.GUARD_NS: 3, at.DEVICE_NS: 8, at.DEVICE_SAMPLES: -2, at.RAISED: -1})
    assert (none.guard_seconds, none.device_seconds, none.device_samples, none.raised) == (None, None, 0, 0)


def test_first_calls_are_numbered_from_1_and_their_moments_are_the_walls() -> None:
    begin = at.EARLY_BEGIN
    page = {at.EARLY: 2, begin: 100, begin + 1: 2_000_000_000, begin + 2: 200, begin + 3: 500_000_000}
    calls = [(call.number, call.began_ns, call.seconds) for call in one(page).early]
    assert calls == [(1, 100 + EPOCH, 2.0), (2, 200 + EPOCH, 0.5)]


def sample(row: int, *values: int) -> dict[int, int]:
    return {at.SAMPLES_BEGIN + at.SAMPLE_WORDS * row + i: value for i, value in enumerate(values)}


def test_a_sample_says_how_long_after_which_callable_it_came_where_that_is_known() -> None:
    page = {at.SAMPLES: 2, **sample(0, 5, 100, 10**9, 0, 0), **sample(1, 9, 300, 10**8, -1, -1)}
    first, second = one(page).samples
    assert first == (5, 100 + EPOCH, 1.0, 0.0, 0)
    assert second == (9, 300 + EPOCH, 0.1, None, None)


@pytest.mark.parametrize(("told", "are_read"), [(-1, 0), (10_000, None)])
def test_there_are_no_more_samples_than_a_page_has_room_for(told: int, are_read: int | None) -> None:
    times = one({at.SAMPLES: told, at.EARLY: told})
    assert len(times.samples) == (at.SAMPLE_CAPACITY if are_read is None else are_read)
    assert len(times.early) == (at.EARLY_CAPACITY if are_read is None else are_read)


def test_without_samples_the_first_call_alone_is_read() -> None:
    times = one({at.SAMPLES: 2, at.EARLY: 2, at.TOTAL_NS: 10**9}, with_samples=False)
    assert (len(times.early), times.samples, times.seconds) == (1, (), 1.0)


def test_a_call_is_running_since_it_began_or_after_the_last_that_was_timed() -> None:
    exact = one({at.RUNNING_SINCE: 70, at.UNTIMED_BEGUN: 3, at.UNTIMED: 2, at.LAST_TIMED_END: 40})
    assert (exact.running_since_ns, exact.is_running_since_exact) == (70 + EPOCH, True)
    about = one({at.UNTIMED_BEGUN: 3, at.UNTIMED: 2, at.LAST_TIMED_END: 40})
    assert (about.running_since_ns, about.is_running_since_exact) == (40 + EPOCH, False)
    none = one({at.UNTIMED_BEGUN: 2, at.UNTIMED: 2, at.LAST_TIMED_END: 40})
    assert (none.running_since_ns, none.is_running_since_exact) == (None, False)


def test_pages_are_of_graphs_of_backwards_or_of_others_which_are_told_apart() -> None:
    one_graph = graph(1, (0, 0), calls_index=4, backward_index=6)  # type: ignore[arg-type]
    process = of_one_process(graphs=[one_graph]).processes[0]
    calls = [some_calls(count, 0.5) for count in (1, 2, 3, 4)]
    others = assign_calls(process, Calls(0, 0, 0, 0, calls), first_page=3)
    assert others == [(3, calls[0]), (5, calls[2])]
    assert (one_graph.times, one_graph.calls, one_graph.host_seconds) == (calls[1], 2, 1.0)
    assert one_graph.backward == calls[3]
    assert assign_calls(process, Calls(0, 0, 0, 0, calls[:1])) == [(0, calls[0])]
