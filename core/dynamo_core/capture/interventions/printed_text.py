"""What a call of the program prints: the lines of text that its thread writes to `sys.stdout`."""

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..frames.program_files import is_own

PRINTED, PRINTED_AT = "printed", "printed: line"  # roots: the lines of text, and where each was printed
NOT_NOTED = "what it prints"  # where that could not be noted, or only in part
_NUMBER = re.compile(r"\d+\.\d*(?:e[-+]?\d+)?|\d*\.\d+(?:e[-+]?\d+)?")
_CLOSE = 1e-2  # how far apart printed numbers may be: rounding makes them others, and they are shortened
_LONGEST = 1 << 16  # characters
_OWN = object()


class Printed:
    """The text that was written, and the program's line that wrote each piece of it."""

    def __init__(self) -> None:
        self._pieces: list[tuple[str, tuple[str, int] | None]] = []
        self._length = 0
        self.is_noted = True

    def note(self, text: Any) -> None:
        """Note a piece of text that is being written."""
        if type(text) is str and self._length <= _LONGEST:
            self._length += len(text)
            self._pieces.append((text, _own_line()))

    def roots(self) -> dict[str, Any]:
        """The lines, and where each ended; None where they were not all noted."""
        if not self.is_noted or self._length > _LONGEST:
            return {PRINTED: None}
        lines, places, line = [], [], ""
        for text, at in self._pieces:
            *ended, rest = text.split("\n")
            for each in ended:
                lines.append(line + each)
                places.append(at)
                line = ""
            line += rest
        if line:
            lines.append(line)
            places.append(self._pieces[-1][1])
        return {PRINTED: lines, PRINTED_AT: places}


@contextmanager
def noting_printed() -> Iterator[Printed]:
    """While a call is made: what its thread writes to `sys.stdout` is noted, and written as it is."""
    printed, stream, thread = Printed(), sys.stdout, threading.get_ident()
    before: Any = _OWN
    try:
        before = vars(stream).get("write", _OWN)
        write = stream.write

        def note_and_write(text: Any, *rest: Any) -> Any:
            if threading.get_ident() == thread:
                printed.note(text)
            return write(text, *rest)

        stream.write = note_and_write  # type: ignore[method-assign]
    except (AttributeError, TypeError):  # it takes no attributes, or there is none
        printed.is_noted = False
    try:
        yield printed
    finally:
        if printed.is_noted:
            vars(stream).pop("write", None)
            if before is not _OWN:
                vars(stream)["write"] = before


def is_printed_alike(own: str, eagers: str) -> bool:
    """Whether two lines are the same text, with fractions that are about equal."""
    if _NUMBER.split(own) != _NUMBER.split(eagers):
        return False
    pairs = zip(map(float, _NUMBER.findall(own)), map(float, _NUMBER.findall(eagers)), strict=True)
    return all(abs(first - second) <= _CLOSE * max(abs(first), abs(second), 1.0) for first, second in pairs)


def _own_line() -> tuple[str, int] | None:
    frame: Any = sys._getframe(2)
    while frame is not None and not is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)
