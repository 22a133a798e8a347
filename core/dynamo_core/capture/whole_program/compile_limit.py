"""Give a compile up that stays in the backend for too long (`--compile-limit`), and run its frame eager.

A signal is sent to the thread that compiles, and its handler raises there: it ends whatever Python code is
running, a sleep, or a wait for a C++ compiler. Code that stays in C (one long call of a library) is ended
when it returns to Python. Only the main thread can be signalled; in others nothing is limited. Nor is a
backward that is compiled when it is first called: the forward that it belongs to has been run.

The signal is a real-time one that nobody handles; where the program handles it, nothing is limited.
"""

import signal
import sys
import threading
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from types import FrameType
from typing import Any

_AGAIN_AFTER = 1.0  # seconds; what is raised in a destructor, say, is printed and forgotten


class CompileLimitReached(BaseException):
    """Not an Exception, so that no backend takes it for a failure of its own."""


class CompileLimit:
    """Bounds calls to so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._signal = getattr(signal, "SIGRTMAX", 0) - 3

    def call(self, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """What `function` returns, or CompileLimitReached."""
        if not self._can_limit():
            return function(*args, **named)
        main = threading.main_thread().ident
        is_over, has_stopped = allocate_lock(), allocate_lock()
        is_over.acquire()
        has_stopped.acquire()

        def wait() -> None:
            seconds = self.seconds
            while not is_over.acquire(True, seconds):
                signal.pthread_kill(main, self._signal)  # type: ignore[arg-type]
                seconds = _AGAIN_AFTER
            has_stopped.release()

        signal.signal(self._signal, self._stop)
        try:
            start_new_thread(wait, ())
            return _limited(function, args, named)
        finally:
            is_over.release()
            has_stopped.acquire()
            # Ignored first, which forgets one that is on its way: it would end the process.
            signal.signal(self._signal, signal.SIG_IGN)
            signal.signal(self._signal, signal.SIG_DFL)

    def _can_limit(self) -> bool:
        return (
            sys.platform == "linux"
            and threading.current_thread() is threading.main_thread()
            and signal.getsignal(self._signal) is signal.SIG_DFL
        )

    def _stop(self, number: int, interrupted: FrameType | None) -> None:
        """Raise in the limited call, and not in what comes after it."""
        while interrupted is not None:
            if interrupted.f_code is _limited.__code__:
                raise CompileLimitReached(f"the backend took longer than {self.seconds:g} s")
            interrupted = interrupted.f_back


def _limited(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return function(*args, **named)
