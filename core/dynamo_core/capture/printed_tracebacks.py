"""Leave our frames out of the traceback that Python prints where an exception ends the program.

An exception that passes through a hook of ours, or through a compiled graph, gets the frames of that. Python
raises the auditing event before it calls `sys.excepthook` (Python/pythonrun.c, 3.10 to 3.14), so that the
program's own `sys.excepthook` stays what it is. An audit hook stays for good: there is none until an
exception has passed through a frame of ours.
"""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

_PACKAGE = "dynamo_core."
_has_hook = False


def passes_through_us() -> None:
    """An exception passes through a frame of ours: Python may print it."""
    global _has_hook
    if not _has_hook:
        _has_hook = True
        sys.addaudithook(_leave_us_out)


def _leave_us_out(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "sys.excepthook":
        return
    try:
        pending, known = [arguments[2]], set()
        while pending:
            error = pending.pop()
            if isinstance(error, BaseException) and id(error) not in known:
                known.add(id(error))
                _without_our_frames(error.__traceback__)
                pending += [error.__cause__, error.__context__]
    except Exception:  # the traceback stays as it is
        pass


def _without_our_frames(traceback: "TracebackType | None") -> None:
    """Leave out our frames; the first one is the program's own."""
    while traceback is not None:
        following = traceback.tb_next
        while following is not None and _is_ours(following):
            following = following.tb_next
        traceback.tb_next = following
        traceback = following


def _is_ours(traceback: "TracebackType") -> bool:
    return str(traceback.tb_frame.f_globals.get("__name__")).startswith(_PACKAGE)
