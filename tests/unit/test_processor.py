"""Staying on one processor for a while."""

import os

from dynamo_core.measuring.processor import staying_on


def test_a_thread_stays_where_it_is_and_goes_free_again() -> None:
    before = os.sched_getaffinity(0)
    with staying_on(None) as there:
        assert there in before and os.sched_getaffinity(0) == {there}
    assert os.sched_getaffinity(0) == before


def test_a_thread_goes_where_it_is_sent() -> None:
    wanted = max(os.sched_getaffinity(0))
    with staying_on(wanted) as there:
        assert there == wanted and os.sched_getaffinity(0) == {wanted}


def test_where_there_is_no_such_processor_a_thread_is_left_alone() -> None:
    before = os.sched_getaffinity(0)
    with staying_on(100_000) as there:
        assert there is None and os.sched_getaffinity(0) == before
