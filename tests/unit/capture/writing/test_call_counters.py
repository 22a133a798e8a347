"""Counting calls, and reading the counters back."""

import struct
import threading
from collections.abc import Callable
from itertools import pairwise

import pytest

from dynamo_core.capture.probes.device_time import DeviceTimer, timed
from dynamo_core.capture.writing import call_counters
from dynamo_core.capture.writing.call_counters import LONGEST_INTERVAL, PAGE_CAPACITY, CallCounters
from dynamo_core.recording.calls import Calls, parse_calls
from dynamo_core.shared.call_pages import (
    CLOCK_EPOCH_NS,
    CLOCK_NS,
    EARLY_CAPACITY,
    FIRST_BUCKET,
    FORMAT_MARK,
    LAST_BUCKET,
    MARK,
    PAGE_WORDS,
    PAGES_IN_USE,
    SAMPLE_CAPACITY,
    bucket_bounds,
)


@pytest.fixture
def counters() -> CallCounters:
    made = CallCounters(lambda: made.keep_in_memory())
    made.keep_in_memory()
    return made


def as_read(counters: CallCounters) -> Calls:
    counters.words[MARK] = FORMAT_MARK
    words = [*counters.words, *(word for page in counters._pages for word in page.words)]
    calls = parse_calls(struct.pack(f"={len(words)}q", *words))
    assert calls is not None
    return calls


def test_calls_and_their_time_are_added_up(counters: CallCounters) -> None:
    assert [counters.new_page(), counters.new_page()] == [0, 1]
    add = counters.counted(lambda x, y: x + y, 1)
    assert [add(1, 2), add(3, 4)] == [3, 7]
    first, second = as_read(counters).callables
    assert (first.calls, first.seconds, first.histogram) == (0, 0, {})
    assert second.calls == 2
    assert second.seconds == pytest.approx(sum(call.seconds for call in second.early))


def test_a_call_that_raises_is_counted(counters: CallCounters) -> None:
    counters.new_page()
    with pytest.raises(ZeroDivisionError):
        counters.counted(lambda: 1 / 0, 0)()
    assert (as_read(counters).callables[0].calls, as_read(counters).callables[0].raised) == (1, 1)


def test_a_call_that_has_not_returned_is_running(counters: CallCounters) -> None:
    counters.new_page()
    seen = []
    counters.counted(lambda: seen.append(as_read(counters).callables[0]), 0)()
    assert seen[0].running_since_ns is not None and seen[0].calls == 0
    returned = as_read(counters).callables[0]
    assert returned.running_since_ns is None and returned.calls == 1 and returned.raised == 0


def test_moments_are_calls_that_take_no_time(counters: CallCounters) -> None:
    counters.new_page()
    note = counters.moment_marker(0)
    for _ in range(3 * SAMPLE_CAPACITY):
        note()
    [moments] = as_read(counters).callables
    assert (moments.calls, moments.seconds) == (3 * SAMPLE_CAPACITY, 0)
    numbers = [call.number for call in moments.samples]
    assert numbers[0] == 1 and len({b - a for a, b in pairwise(numbers)}) == 1
    assert all(a.began_ns <= b.began_ns for a, b in pairwise(moments.samples))


def test_lost_records_are_noted(counters: CallCounters) -> None:
    counters.note_lost_record(28)
    calls = as_read(counters)
    assert (calls.lost_records, calls.last_errno) == (1, 28)


def test_counting_survives_a_stream_that_cannot_be_opened() -> None:
    def fail() -> None:
        raise FileNotFoundError

    counters = CallCounters(fail)
    counters.new_page()
    counters.note_lost_record(2)
    assert counters.counted(lambda: 5, 0)() == 5
    assert as_read(counters).callables[0].calls == 1


def test_graphs_beyond_the_capacity_go_uncounted(counters: CallCounters) -> None:
    assert [counters.new_page() for _ in range(PAGE_CAPACITY + 1)][-1] is None


def test_foreign_bytes_are_no_counters() -> None:
    assert parse_calls(b"x" * 8 * PAGE_WORDS) is None
    assert parse_calls(b"") is None


def test_every_time_has_one_bucket() -> None:
    bounds = [bucket_bounds(bucket) for bucket in range(FIRST_BUCKET, LAST_BUCKET + 1)]
    assert bounds[0][0] == 0
    assert all(high == low for (_, high), (low, _) in pairwise(bounds))
    assert bounds[-1][1] == 2**63


@pytest.mark.parametrize("calls", [1, EARLY_CAPACITY, SAMPLE_CAPACITY, 1000, 54321])
def test_samples_spread_evenly_over_however_many_calls(counters: CallCounters, calls: int) -> None:
    counters.new_page()
    work = counters.counted(lambda: None, 0)
    for _ in range(calls):
        work()
    times = as_read(counters).callables[0]
    assert times.calls == calls
    assert [call.number for call in times.early] == list(range(1, min(calls, EARLY_CAPACITY) + 1))
    numbers = [call.number for call in times.samples]
    steps = {after - before for before, after in pairwise(numbers)}
    assert numbers[0] == 1
    assert len(steps) <= 1
    assert calls - numbers[-1] < max(steps, default=1)
    assert min(calls, SAMPLE_CAPACITY // 2) <= len(numbers) <= SAMPLE_CAPACITY


class Clock:
    """In place of the processor's: time passes where the test says so, and readings are counted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = self.readings = 0
        monkeypatch.setattr(call_counters, "perf_counter_ns", self.read)

    def read(self) -> int:
        self.readings += 1
        return self.now

    def spend(self, nanoseconds: int) -> None:
        self.now += nanoseconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def timed_counters(clock: Clock) -> CallCounters:
    made = CallCounters(lambda: made.keep_in_memory())
    made.keep_in_memory()
    made.new_page()
    made.new_page()
    return made


def test_of_short_calls_some_are_timed_and_stand_for_the_others(
    timed_counters: CallCounters, clock: Clock
) -> None:
    work = timed_counters.counted(clock.spend, 0)
    for number in range(10_000):
        work(1_000 + number % 7)
    times = as_read(timed_counters).callables[0]
    assert times.calls == 10_000 == timed_counters.calls_of(0)
    assert times.untimed > 9_000
    assert sum(times.histogram.values()) == 10_000 - times.untimed
    assert clock.readings == 2 * (10_000 - times.untimed)
    assert times.seconds == pytest.approx(10_000 * 1_003e-9, rel=0.001)
    assert times.percentile(0.5) == pytest.approx(1_003e-9, rel=0.07)


@pytest.mark.parametrize("calls", [SAMPLE_CAPACITY + 1, SAMPLE_CAPACITY + 2, 200, 1_001])
def test_the_total_is_that_of_all_calls_however_many(
    timed_counters: CallCounters, clock: Clock, calls: int
) -> None:
    work = timed_counters.counted(clock.spend, 0)
    for _ in range(calls):
        work(2_000)
    times = as_read(timed_counters).callables[0]
    assert times.calls == calls
    assert calls - times.untimed >= calls / LONGEST_INTERVAL
    seconds = calls * 2e-6 if times.untimed != 1 else (calls - 1) * 2e-6  # nothing stands for it yet
    assert times.seconds == pytest.approx(seconds)


@pytest.mark.parametrize("elapsed", [20_000, 5_000_000])
def test_calls_that_are_not_short_are_all_timed(
    timed_counters: CallCounters, clock: Clock, elapsed: int
) -> None:
    work = timed_counters.counted(clock.spend, 0)
    for _ in range(1_000):
        work(elapsed)
    times = as_read(timed_counters).callables[0]
    assert (times.calls, times.untimed) == (1_000, 0)
    assert times.seconds == pytest.approx(1_000 * elapsed / 1e9)


def test_a_slow_first_call_stands_for_no_other(timed_counters: CallCounters, clock: Clock) -> None:
    work = timed_counters.counted(clock.spend, 0)
    work(10**9)
    for _ in range(999):
        work(1_000)
    assert as_read(timed_counters).callables[0].seconds == pytest.approx(1 + 999e-6)


def test_an_untimed_call_that_hangs_is_seen_and_that_raises_is_counted(
    timed_counters: CallCounters, clock: Clock
) -> None:
    action: Callable[[int], object] = clock.spend
    seen = []

    def do(elapsed: int) -> None:
        action(elapsed)

    work = timed_counters.counted(do, 0)
    for _ in range(1_000):
        work(1_000)
    ended = clock.now
    action = lambda _: seen.append(as_read(timed_counters).callables[0])  # noqa: E731
    for _ in range(2):
        work(1_000)
    untimed = next(times for times in seen if not times.is_running_since_exact)
    epoch = timed_counters.words[CLOCK_EPOCH_NS] - timed_counters.words[CLOCK_NS]
    assert untimed.running_since_ns is not None
    assert ended - LONGEST_INTERVAL * 1_000 <= untimed.running_since_ns - epoch <= ended
    assert as_read(timed_counters).callables[0].running_since_ns is None

    def fail(_: int) -> None:
        raise ZeroDivisionError

    action = fail
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            work(1_000)
    times = as_read(timed_counters).callables[0]
    assert (times.calls, times.raised, times.running_since_ns) == (1_004, 2, None)


def test_short_calls_with_others_inside_are_all_timed(timed_counters: CallCounters, clock: Clock) -> None:
    inner = timed_counters.counted(clock.spend, 0)
    outer = timed_counters.counted(lambda: inner(1_000), 1)
    for _ in range(1_000):
        outer()
    calls = as_read(timed_counters)
    assert [times.untimed for times in calls.callables] == [0, 0]
    assert calls.overlap_ns == 1_000 * 1_000


def test_calls_that_begin_to_meet_others_are_timed_from_then_on(
    timed_counters: CallCounters, clock: Clock
) -> None:
    inner = timed_counters.counted(clock.spend, 0)
    has_inner = False
    outer = timed_counters.counted(lambda: inner(30_000) if has_inner else clock.spend(1_000), 1)
    for _ in range(1_000):
        outer()
    has_inner = True
    before = as_read(timed_counters).callables[1].untimed
    for _ in range(100):
        outer()
    assert 0 < as_read(timed_counters).callables[1].untimed <= before + 1


def test_a_call_in_which_something_is_compiled_stands_for_itself(
    timed_counters: CallCounters, clock: Clock
) -> None:
    compiles = False

    def do() -> None:
        clock.spend(1_000_000 if compiles else 1_000)
        if compiles:
            timed_counters.note_compile(999_000)

    work = timed_counters.counted(do, 0)
    for _ in range(10_000):
        work()
    compiles = True
    for _ in range(LONGEST_INTERVAL):
        work()
    calls = as_read(timed_counters)
    assert calls.compiling_ns == 999_000  # of the one that was timed
    assert calls.callables[0].seconds == pytest.approx(10_060e-6 + 1e-3, rel=0.01)


def test_a_forked_child_counts_short_calls_of_its_own(timed_counters: CallCounters, clock: Clock) -> None:
    work = timed_counters.counted(clock.spend, 0)
    for _ in range(1_000):
        work(1_000)
    timed_counters.restart_after_fork()
    for _ in range(100):
        work(1_000)
    timed_counters.words[PAGES_IN_USE] = 2
    times = as_read(timed_counters).callables[0]
    assert times.calls == 100 and times.running_since_ns is None
    assert times.seconds == pytest.approx(100e-6, rel=0.2)


def test_nested_calls_are_in_the_overlap_once(counters: CallCounters) -> None:
    counters.new_page()
    counters.new_page()
    inner = counters.counted(lambda: sum(range(20000)), 0)
    counters.counted(lambda: [inner() for _ in range(3)], 1)()
    calls = as_read(counters)
    assert calls.overlap_ns / 1e9 == pytest.approx(calls.callables[0].seconds, rel=1e-6)
    assert calls.callables[1].seconds >= calls.callables[0].seconds


def test_calls_on_two_threads_at_once_overlap(counters: CallCounters) -> None:
    counters.new_page()
    counters.new_page()
    inside, go = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        go.wait()

    thread = threading.Thread(target=counters.counted(wait, 0))
    thread.start()
    inside.wait()
    counters.counted(lambda: sum(range(20000)), 1)()
    go.set()
    thread.join()
    calls = as_read(counters)
    assert calls.overlap_ns / 1e9 == pytest.approx(calls.callables[1].seconds, rel=1e-6)


def test_the_time_since_the_call_before_is_known_unless_something_was_compiled(
    counters: CallCounters,
) -> None:
    counters.new_page()
    counters.new_page()
    first, second = (counters.counted(lambda: None, page) for page in (0, 1))
    first()
    second()
    first()
    counters.note_compile(10)
    second()
    first_call, second_call = as_read(counters).callables[1].samples
    assert first_call.previous == second_call.previous == 0
    assert first_call.since_previous is not None
    assert first_call.since_previous >= 0
    assert second_call.since_previous is None


def test_compiling_inside_a_call_is_counted(counters: CallCounters) -> None:
    counters.new_page()
    counters.counted(lambda: counters.note_compile(1000), 0)()
    counters.note_compile(500)
    assert as_read(counters).compiling_ns == 1000


def test_percentiles_come_from_the_histogram(counters: CallCounters) -> None:
    counters.new_page()
    words = counters._pages[0].words
    for elapsed, count in ((1_000, 98), (1_000_000, 2)):
        bits = elapsed.bit_length()
        words[(bits << 3) + (elapsed >> (bits - 4))] = count
    times = as_read(counters).callables[0]
    assert times.percentile(0.5) == pytest.approx(1e-6, rel=0.07)
    assert times.percentile(0.99) == pytest.approx(1e-3, rel=0.07)


def test_percentiles_of_calls_that_were_all_noted_are_exact(counters: CallCounters) -> None:
    counters.new_page()
    call = counters.counted(lambda: None, 0)
    call()
    times = as_read(counters).callables[0]
    assert times.percentile(0.5) == times.percentile(0.99) == times.early[0].seconds
    call()
    times = as_read(counters).callables[0]
    ordered = sorted(each.seconds for each in times.early)
    assert (times.percentile(0.5), times.percentile(0.99)) == (ordered[0], ordered[1])


class FakeCuda:
    """Stands in for torch.cuda: events pass when `passed` says so, each 2 ms after the one before it."""

    def __init__(self) -> None:
        self.passed = False
        self.is_capturing = False
        self.recorded = 0

    def is_current_stream_capturing(self) -> bool:
        return self.is_capturing

    def Event(self, enable_timing: bool) -> "FakeEvent":
        assert enable_timing
        return FakeEvent(self)


class FakeEvent:
    def __init__(self, cuda: FakeCuda) -> None:
        self._cuda = cuda

    def record(self) -> None:
        self._cuda.recorded += 1

    def query(self) -> bool:
        assert not self._cuda.is_capturing
        return self._cuda.passed

    def elapsed_time(self, other: "FakeEvent") -> float:
        return 2.0


def test_calls_are_timed_on_the_gpu_without_waiting(counters: CallCounters) -> None:
    counters.new_page()
    cuda = FakeCuda()
    work = counters.counted(timed(lambda: None, lambda: counters.words_of(0), DeviceTimer(cuda)), 0)
    for _ in range(50):
        work()
    assert as_read(counters).callables[0].device_seconds is None
    assert cuda.recorded == 2 * 8  # no more than that many are waited for
    cuda.passed = True
    work()
    times = as_read(counters).callables[0]
    assert (times.device_seconds, times.device_samples) == (pytest.approx(0.002), 8)  # type: ignore[comparison-overlap]


def test_no_event_is_recorded_while_a_cuda_graph_is_captured(counters: CallCounters) -> None:
    counters.new_page()
    cuda = FakeCuda()
    cuda.is_capturing = True
    counters.counted(timed(lambda: None, lambda: counters.words_of(0), DeviceTimer(cuda)), 0)()
    assert cuda.recorded == 0


def test_no_event_is_asked_for_while_a_cuda_graph_is_captured(counters: CallCounters) -> None:
    counters.new_page()
    cuda = FakeCuda()
    work = counters.counted(timed(lambda: None, lambda: counters.words_of(0), DeviceTimer(cuda)), 0)
    work()  # its second event has not passed yet
    cuda.passed = cuda.is_capturing = True
    work()
    assert as_read(counters).callables[0].device_seconds is None
    cuda.is_capturing = False
    work()
    assert as_read(counters).callables[0].device_seconds is not None
