"""The line of the program at which every report places a recompile."""

import re
from collections.abc import Iterator
from pathlib import PurePath

from ..model import GuardFailure, Place, StackFrame
from ..recording.guards import plain_source
from .recompiles import FrameRecompiles
from .source_lines import is_user_line, targets_of

_NAME = re.compile(r"\b[A-Za-z_]\w{0,99}\b")
# Arguments of torch's operations that have to be numbers of Python's: `x.add_(y, alpha=decay)`.
_NEEDS_A_NUMBER = r"\b(?:alpha|beta|value)=[^,]{{0,100}}\b(?:{})\b"


def line_of_recompile(
    frame: FrameRecompiles, failure: GuardFailure | None, of_cause: StackFrame | None
) -> StackFrame | None:
    """The line of the failed guard; in place of a library's, or of none, the line of the cause."""
    line = None if failure is None else frame.line_of(failure)
    return line if line is not None and _is_own(line.place, frame) else of_cause or line


def _is_own(where: Place, frame: FrameRecompiles) -> bool:
    """Whether a line is the program's: a file name that torch has cut short is, if it is the frame's."""
    name = PurePath(where.file).name
    return is_user_line(where) or (frame.place is not None and name == PurePath(frame.place.file).name)


def is_made_of(expression: str | None, source: str | None) -> bool:
    """Whether a number is calculated from another one, as `(lr / (1.0 - step))` from `step`."""
    is_calculated = expression is not None and expression.startswith("(")
    return is_calculated and source is not None and source in _NAME.findall(expression or "")


def lines_of_expression(frame: FrameRecompiles, expression: str | None) -> Iterator[StackFrame]:
    """Where a number is needed that is calculated from dynamic ones, as `(lr / (1.0 - step))`.

    First what is given it as an argument that has to be a number, then the first use of what it is made of.
    """
    names = set(_NAME.findall(expression or "")) if (expression or "").startswith("(") else set()
    uses = [each.stack[-1] for each in frame.symbols if each.stack and plain_source(each.source) in names]
    if not uses:
        return
    first = uses[0]
    names.update(targets_of(first.text))
    needs = re.compile(_NEEDS_A_NUMBER.format("|".join(map(re.escape, names))))
    for codes in frame.records.codes.of_frame(frame.compiles[0].compile_id).values():
        for number, text in sorted(codes[0].source.items()):
            if number >= first.place.line and needs.search(text):
                yield first._replace(place=first.place._replace(line=number), text=text.strip())
    yield first
