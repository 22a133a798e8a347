"""Whose threads may change what a copy of the process is compared with."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from types import SimpleNamespace

import pytest

from dynamo_core.capture import forking


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
