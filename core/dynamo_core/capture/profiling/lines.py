"""Write into the profiler's trace which of the program's lines runs, for one step.

torch's own stacks (`with_stack=True`) name functions, with the line of their `def`. Here Python's trace
function leaves a mark of no length at each line of the program's own files, and where control comes back to
one. Whatever the thread does after a mark, it does for that line.
"""

import ctypes
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ..frames.program_files import is_own

MARK = "dynamo line "
# Before, tracing a frame fills its `f_locals`, which then keeps the program's tensors until the frame ends.
CAN_MARK_LINES = sys.version_info >= (3, 11)


class LineMarks:
    """Marks lines in the thread that enters. Refuses where the program traces itself."""

    def __init__(self) -> None:
        self._is_on = False
        self._names: dict[tuple[str, int], str] = {}

    def enter(self, frame: FrameType | None) -> bool:
        """Begin, for `frame` and those that called it as for those to come; whether we could."""
        if sys.gettrace() is not None or not CAN_MARK_LINES:
            return False
        self._keep_dynamo_out()
        self._is_on = True
        innermost = None
        for caller in _own_frames(frame):
            innermost = innermost or caller
            if caller.f_trace is None:
                caller.f_trace = self._in_own_frame
        sys.settrace(self._frame_begins)
        if innermost is not None:
            self._mark(innermost)
        return True

    def leave(self, frame: FrameType | None) -> None:
        """End, in the same thread. No frame was kept alive: what has returned needs nothing undone."""
        if not self._is_on:
            return
        self._is_on = False
        if sys.gettrace() == self._frame_begins:
            sys.settrace(None)
        for caller in _own_frames(frame):
            if caller.f_trace == self._in_own_frame:
                caller.f_trace = None

    def _keep_dynamo_out(self) -> None:
        """Python calls a trace function amid the frames that Dynamo looks at (seen with torch 2.8)."""
        from torch._dynamo.eval_frame import skip_code

        ours: list[Any] = [self._frame_begins, self._in_own_frame, self._mark, _own_frames, is_own]
        for function in ours:
            skip_code(function.__code__)

    def _frame_begins(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._in_own_frame if self._is_on and is_own(frame.f_code.co_filename) else None

    def _in_own_frame(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not self._is_on:
            return None
        if event == "line":
            self._mark(frame)
        elif event == "return":
            caller = next(_own_frames(frame.f_back), None)
            if caller is not None:
                self._mark(caller)
        return self._in_own_frame

    def _mark(self, frame: FrameType) -> None:
        from torch._C._profiler import _RecordFunctionFast

        place = (frame.f_code.co_filename, frame.f_lineno)
        name = self._names.get(place)
        if name is None:
            name = self._names[place] = f"{MARK}{place[0]}:{place[1]}"
        with _RecordFunctionFast(name):
            pass


def _own_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """`frame` and its callers that run the program's own files, innermost first."""
    while frame is not None:
        if is_own(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


# Keep what the profiler prints by itself off the program's stderr.
#
# Kineto prints a line as it starts and as it stops from torch 2.13 on, torch 2.11 warns that events are not
# kept from cycle to cycle (torch/profiler/profiler.py, prepare_trace), and c10 warns about every block of
# memory that is older than the profiler. A program that did not ask for a profiler must not print either.


_KINETO_LEVEL = "KINETO_LOG_LEVEL"
_KINETO_NOTHING = "6"  # third_party/kineto/libkineto/include/ILoggerObserver.h: ENUM_COUNT, above USDT
_C10_ERROR = 2  # c10/util/logging_is_not_google_glog.h: GLOG_ERROR


@contextmanager
def profiler_quiet() -> Iterator[None]:
    """Kineto reads its level once, as it is first started, and keeps it for the life of the process.

    Source: libkineto/src/init.cpp (libkineto_init). Only C's environment changes, not Python's os.environ.
    """
    before = os.environ.get(_KINETO_LEVEL)
    os.putenv(_KINETO_LEVEL, _KINETO_NOTHING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
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
