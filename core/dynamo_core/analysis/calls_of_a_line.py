"""What a line calls that breaks the graph without naming it: `repr(value)` calls the class's `__repr__`.

Python runs such a line, and what it calls with tensors is compiled by itself: nothing of that would be, were
the line outside of the compiled code. A function that the line calls by its name may break the graph by
itself.
"""

import re
from collections.abc import Iterable, Mapping

from ..model import Frame, GraphBreak, Place, Process, StackFrame, function_of, resumed_function

_Function = tuple[str, str]  # file and name
_CALLED = re.compile(r"([A-Za-z_]\w{0,99})\(")


class CallsOfLines:
    """Finds the frames of a process that only lines of breaks led to, by calls that do not stand there."""

    def __init__(self, process: Process) -> None:
        self._called_by: dict[Place, list[Frame]] = {}
        self._frames: dict[_Function, list[Frame]] = {}
        for frame in process.frames:
            self._frames.setdefault(_function(frame), []).append(frame)
            if frame.called_from is not None:
                self._called_by.setdefault(frame.called_from.place, []).append(frame)

    def of(self, breaks: Iterable[GraphBreak]) -> list[Frame]:
        """The frames of what the lines of these breaks call, and of what that calls."""
        lines = {each.stack[-1].place: each.stack[-1] for each in breaks if each.stack}
        called = (frame for place in lines for frame in self._called_by.get(place, ()))
        if not any(_is_implicit(frame, lines) for frame in called):
            return []
        found: dict[_Function, list[Frame]] = {}
        is_new = True
        while is_new:
            new = {
                function: frames
                for function, frames in self._frames.items()
                if function not in found
                and all(_calls_it(each, {*found, function}) or _is_implicit(each, lines) for each in frames)
                and any(not _calls_it(each, {function}) for each in frames)
            }
            found |= new
            is_new = bool(new)
        return [frame for frames in found.values() for frame in frames]


def _function(frame: Frame) -> _Function:
    return frame.place.file, function_of(frame.name)


def _calls_it(frame: Frame, functions: set[_Function]) -> bool:
    """Whether one of these functions called the frame; what goes on behind a break is called by its own."""
    call = frame.called_from
    return call is not None and (call.place.file, function_of(call.function)) in functions


def _is_implicit(frame: Frame, lines: Mapping[Place, StackFrame]) -> bool:
    """Whether the line of a break called the frame, and does not name it; what goes on behind it is none."""
    line = None if frame.called_from is None else lines.get(frame.called_from.place)
    if line is None or resumed_function(frame.name) is not None:
        return False
    return function_of(frame.name) not in _CALLED.findall(line.text)
