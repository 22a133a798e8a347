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


def compiles_of_what_lines_call(breaks: Iterable[GraphBreak], process: Process) -> list[Frame]:
    """The frames that only lines of these breaks led to, by calls that do not stand there."""
    lines = {each.stack[-1].place: each.stack[-1] for each in breaks if each.stack}
    frames: dict[_Function, list[Frame]] = {}
    for frame in process.frames:
        frames.setdefault((frame.place.file, function_of(frame.name)), []).append(frame)
    found: dict[_Function, list[Frame]] = {}
    is_new = bool(lines)
    while is_new:
        new = {
            function: of_function
            for function, of_function in frames.items()
            if function not in found
            and all(_calls_it(each, {*found, function}) or _is_implicit(each, lines) for each in of_function)
            and any(not _calls_it(each, {function}) for each in of_function)
        }
        found |= new
        is_new = bool(new)
    return [frame for of_function in found.values() for frame in of_function]


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
