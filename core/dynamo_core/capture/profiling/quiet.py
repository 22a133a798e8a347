"""Keep what the profiler prints by itself off the program's stderr.

Kineto prints a line as it starts and as it stops from torch 2.13 on, and c10 warns about every block of
memory that is older than the profiler. A program that did not ask for a profiler must not print either.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_KINETO_LEVEL = "KINETO_LOG_LEVEL"
_KINETO_NOTHING = "6"  # third_party/kineto/libkineto/include/ILoggerObserver.h: ENUM_COUNT, above USDT
_C10_ERROR = 2  # c10/util/logging_is_not_google_glog.h: GLOG_ERROR


@contextmanager
def kineto_quiet() -> Iterator[None]:
    """Kineto reads its level once, as it is first started, and keeps it for the life of the process.

    Source: libkineto/src/init.cpp (libkineto_init). Only C's environment changes, not Python's os.environ.
    """
    before = os.environ.get(_KINETO_LEVEL)
    os.putenv(_KINETO_LEVEL, _KINETO_NOTHING)
    try:
        yield
    finally:
        if before is None:
            os.unsetenv(_KINETO_LEVEL)
        else:
            os.putenv(_KINETO_LEVEL, before)


class _C10Level:
    """The level of c10's log. Source: c10/util/Logging.cpp (FLAGS_caffe2_log_level), 2.13."""

    def __init__(self) -> None:
        self._before: int | None = None

    def _flag(self) -> ctypes.c_int:
        import torch

        library = os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so")
        return ctypes.c_int.in_dll(ctypes.CDLL(library), "FLAGS_caffe2_log_level")

    def enter(self) -> bool:
        """Whether only errors are printed from now on; without that, allocations are not to be recorded."""
        try:
            flag = self._flag()
        except (OSError, ValueError):
            return False
        if self._before is None:
            self._before = flag.value
        flag.value = max(flag.value, _C10_ERROR)
        return True

    def leave(self) -> None:
        """Let torch's C++ side print what it printed before `enter`."""
        if self._before is not None:
            self._flag().value = self._before
            self._before = None


warnings_of_c10_quiet = _C10Level()
