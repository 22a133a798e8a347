"""The line of the program at which every report places a recompile."""

from pathlib import PurePath

from ..model import GuardFailure, Place, StackFrame
from .recompiles import FrameRecompiles
from .source_lines import is_user_line


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
