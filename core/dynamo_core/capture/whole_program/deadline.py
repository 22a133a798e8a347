"""Call something in the main thread once a time is up, whatever that thread does then.

A thread waits, and leaves a pending call with the interpreter. It is none of `threading`'s, so a program that
counts its threads does not meet it.

Source: Python's C API (Py_AddPendingCall), which runs the call in the main thread, between two instructions.
"""

import ctypes
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from typing import Any

_PENDING_CALL = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class Deadline:
    """One deadline at a time; `call_back` must not raise."""

    def __init__(self, call_back: Callable[[], None]) -> None:
        def run(argument: Any) -> int:
            call_back()
            return 0

        self._pending_call = _PENDING_CALL(run)
        self._cancelled: Any = None

    def set(self, seconds: float) -> None:
        """Begin to wait: the time is up in so many seconds."""
        self.cancel()
        cancelled = self._cancelled = allocate_lock()
        cancelled.acquire()

        def wait() -> None:
            if not cancelled.acquire(True, seconds):
                ctypes.pythonapi.Py_AddPendingCall(self._pending_call, None)

        start_new_thread(wait, ())

    def cancel(self) -> None:
        """No call any more, unless it is on its way."""
        cancelled, self._cancelled = self._cancelled, None
        if cancelled is not None:
            cancelled.release()
