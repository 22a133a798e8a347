"""Staying on one processor for a while."""

import os

from dynamo_core.backends.measuring.worker import staying_on


def test_a_thread_stays_where_it_is_and_goes_free_again() -> None:
    before = os.sched_getaffinity(0)
    with staying_on(None) as there:
        assert there in before and os.sched_getaffinity(0) == {there}
    assert os.sched_getaffinity(0) == before


def test_a_thread_goes_where_it_is_sent() -> None:
    wanted = max(os.sched_getaffinity(0))
    with staying_on(wanted) as there:
        assert there == wanted and os.sched_getaffinity(0) == {wanted}


def test_a_thread_that_was_bound_is_bound_again_as_it_was() -> None:
    before = os.sched_getaffinity(0)
    bound = {max(before)}
    try:
        os.sched_setaffinity(0, bound)
        with staying_on(min(before)):
            assert os.sched_getaffinity(0) == {min(before)}
        assert os.sched_getaffinity(0) == bound
    finally:
        os.sched_setaffinity(0, before)


def test_where_there_is_no_such_processor_a_thread_is_left_alone() -> None:
    before = os.sched_getaffinity(0)
    with staying_on(100_000) as there:
        assert there is None and os.sched_getaffinity(0) == before
