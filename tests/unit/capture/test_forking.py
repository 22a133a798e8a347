"""Copies of the process, and whose threads may change what they are compared with."""

import os
import re
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from types import SimpleNamespace

import pytest

from dynamo_core.capture import forking


@pytest.mark.parametrize(
    "of_main", ["__main__", re.compile("__main__")], ids=["as Python's own", "expression"]
)
def test_filters_of_warnings_are_left_alone_where_they_ignore_the_warning(
    of_main: "str | re.Pattern[str]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warnings, "catch_warnings", pytest.fail)
    monkeypatch.setattr(sys, "version_info", (3, 12))
    monkeypatch.setattr(os, "fork", lambda: 7)
    default = [("default", None, DeprecationWarning, of_main, 0)]
    monkeypatch.setattr(warnings, "filters", [*default, ("ignore", None, DeprecationWarning, None, 0)])
    assert forking.fork() == 7


@pytest.mark.parametrize("action", ["error", "default", "always"])
def test_a_warning_that_the_program_wants_to_see_is_kept_from_it(
    action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 12))

    def fork() -> int:
        warnings.warn("This process is multi-threaded", DeprecationWarning, stacklevel=2)
        return 7

    monkeypatch.setattr(os, "fork", fork)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter(action)  # type: ignore[arg-type]
        assert forking.fork() == 7
    assert not shown


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A process with this thread, and those that the test starts."""
    current = dict(sys._current_frames())
    earlier = set(current) - {threading.get_ident()}
    frames = sys._current_frames
    monkeypatch.setattr(
        sys, "_current_frames", lambda: {i: f for i, f in frames().items() if i not in earlier}
    )
    return monkeypatch


def test_a_thread_of_the_program_counts(alone: pytest.MonkeyPatch) -> None:
    assert not forking.has_other_threads()
    has_ended = threading.Event()
    thread = threading.Thread(target=has_ended.wait)
    thread.start()
    assert forking.has_other_threads()
    has_ended.set()
    thread.join()


def test_threads_of_the_compiler_do_not_count(alone: pytest.MonkeyPatch) -> None:
    class TMonitor(threading.Thread):
        def run(self) -> None:
            has_ended.wait()

    @lru_cache(1)
    def pool() -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1)

    has_ended = threading.Event()
    alone.setitem(sys.modules, "tqdm._monitor", SimpleNamespace(TMonitor=TMonitor))
    inductor = SimpleNamespace(AsyncCompile=SimpleNamespace(pool=pool))
    alone.setitem(sys.modules, "torch._inductor.async_compile", inductor)
    monitor = TMonitor()
    monitor.start()
    assert not forking.has_other_threads()
    assert pool.cache_info().currsize == 0  # it is not made to be looked at
    pool().submit(int).result()
    assert not forking.has_other_threads()
    has_ended.set()
    monitor.join()
    pool().shutdown()
