"""Where a process was when a signal came, in the words of Python's faulthandler."""

import re
from pathlib import Path

from ..model import Place, StackFrame
from ..shared.names import STACK_PREFIX, STACK_SUFFIX, beside_stream
from ..shared.untrusted import printable
from .plain_files import read_plain

_LARGEST = 4 << 20  # bytes; a stack has 100 lines at most
_FRAME = re.compile(
    r'  File "(.{0,500})", line (\d{1,9}) in (.{0,500})'
)  # as long as faulthandler writes them
_MOST_FRAMES = 100


def last_stack(stream: Path) -> tuple[StackFrame, ...]:
    """The last of the stacks in the file beside a stream, the innermost frame at the end; () without one."""
    try:
        content = read_plain(
            stream.with_name(beside_stream(stream.name, STACK_PREFIX, STACK_SUFFIX)), _LARGEST
        )
    except OSError:  # most have none
        return ()
    return parse_stacks(content.decode("utf-8", "replace"))


def parse_stacks(text: str) -> tuple[StackFrame, ...]:
    """The last stack in a text of faulthandler's.

    Source: Python/traceback.c (dump_traceback, dump_frame), Python 3.10 to 3.14.
    """
    stacks: list[list[StackFrame]] = []
    for line in text.splitlines():
        frame = _FRAME.fullmatch(line)
        if frame is None:
            stacks.append([])
        elif stacks and len(stacks[-1]) < _MOST_FRAMES:
            place = Place(printable(frame[1]), int(frame[2]))
            stacks[-1].append(StackFrame(place, printable(frame[3]), ""))
    found = next((stack for stack in reversed(stacks) if stack), [])
    return tuple(reversed(found))
