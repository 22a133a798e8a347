"""A deadline calls back in the main thread, once, unless it is cancelled."""

import threading
import time

from dynamo_core.capture.profiling.window import Deadline


def wait_until(is_done: list[str]) -> None:
    end = time.monotonic() + 10
    while not is_done and time.monotonic() < end:
        time.sleep(0.001)


def test_the_main_thread_is_called_when_time_is_up() -> None:
    called: list[str] = []
    deadline = Deadline(lambda: called.append(threading.current_thread().name))
    deadline.set(0.01)
    wait_until(called)
    assert called == [threading.main_thread().name]


def test_a_deadline_that_is_cancelled_or_set_anew_does_not_call() -> None:
    called: list[str] = []
    deadline = Deadline(lambda: called.append("called"))
    deadline.set(0.05)
    deadline.cancel()
    deadline.set(0.05)
    deadline.set(60)
    time.sleep(0.2)
    assert called == []
    deadline.cancel()


def test_no_thread_of_threadings_is_there() -> None:
    deadline = Deadline(lambda: None)
    before = threading.active_count()
    deadline.set(60)
    assert threading.active_count() == before
    deadline.cancel()
