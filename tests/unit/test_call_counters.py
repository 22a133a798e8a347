"""Counting calls, and reading the counters back."""

import struct

import pytest

from dynamo_core.capture.call_counters import FORMAT_MARK, GRAPH_CAPACITY, CallCounters
from dynamo_core.recording.calls import Calls, parse_calls


@pytest.fixture
def counters() -> CallCounters:
    made = CallCounters(lambda: made.keep_in_memory())
    return made


def as_read(counters: CallCounters) -> Calls:
    counters.words[0] = FORMAT_MARK
    calls = parse_calls(struct.pack(f"={len(counters.words)}q", *counters.words))
    assert calls is not None
    return calls


def test_calls_and_their_time_are_added_up(counters: CallCounters) -> None:
    counters.words[0] = FORMAT_MARK
    assert [counters.new_graph(), counters.new_graph()] == [0, 1]
    add = counters.counted(lambda x, y: x + y, 1)
    assert [add(1, 2), add(3, y=4)] == [3, 7]
    graphs = as_read(counters).graphs
    assert graphs[0] == (0, 0)
    assert graphs[1][0] == 2
    assert graphs[1][1] > 0


def test_a_call_that_raises_is_counted(counters: CallCounters) -> None:
    counters.words[0] = FORMAT_MARK
    counters.new_graph()
    with pytest.raises(ZeroDivisionError):
        counters.counted(lambda: 1 / 0, 0)()
    assert as_read(counters).graphs[0][0] == 1


def test_lost_records_are_noted(counters: CallCounters) -> None:
    counters.note_lost_record(28)
    calls = as_read(counters)
    assert (calls.lost_records, calls.last_errno) == (1, 28)


def test_counting_survives_a_stream_that_cannot_be_opened() -> None:
    def fail() -> None:
        raise FileNotFoundError

    counters = CallCounters(fail)
    counters.note_lost_record(2)
    assert counters.words[1] == 1


def test_graphs_beyond_the_capacity_go_uncounted(counters: CallCounters) -> None:
    counters.keep_in_memory()
    assert [counters.new_graph() for _ in range(GRAPH_CAPACITY + 1)][-1] is None


def test_foreign_bytes_are_no_counters() -> None:
    assert parse_calls(b"x" * 100) is None
    assert parse_calls(b"") is None
