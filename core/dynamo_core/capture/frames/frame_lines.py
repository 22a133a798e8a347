"""The line that a frame is at, as a frame of a stack is recorded, its caller's, and that of its `def`."""

import linecache
import os
import sys
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

_MOST_DECORATING = 100  # lines above a `def`
_PACKAGE_FOLDER = os.path.abspath(str(__spec__.origin)).rpartition(f"{os.sep}capture{os.sep}")[0]


def line_of(frame: FrameType) -> dict[str, Any]:
    """File, line, function and text of the line."""
    file, line = frame.f_code.co_filename, frame.f_lineno
    return {
        "file": file,
        "line": line,
        "name": frame.f_code.co_name,
        "text": linecache.getline(file, line).strip(),
    }


def def_line(name: str, file: str, first: int) -> int | None:
    """The line of a decorated function's `def`; None where the code begins there, or the source is not known.

    The code of a decorated function begins with the first of its decorators (co_firstlineno).
    """
    lines = linecache.getlines(file)[first - 1 : first - 1 + _MOST_DECORATING] if first > 0 else []
    if not lines or not lines[0].lstrip().startswith("@"):
        return None
    begins = (f"def {name}", f"async def {name}")
    for number, line in enumerate(lines, first):
        text = line.lstrip()
        if any(text.startswith(begin) and text[len(begin) :].lstrip()[:1] in ("(", "[") for begin in begins):
            return number
    return None


def torch_folder(dynamo_module: ModuleType) -> str:
    """Where torch lies, with a separator at its end, by a module of Dynamo's."""
    return str(dynamo_module.__file__).rpartition(f"{os.sep}_dynamo{os.sep}")[0] + os.sep


def caller_outside_of(folder: str, own_file: str | None = None) -> dict[str, Any] | None:
    """The innermost line of the stack that is neither of torch's `folder` nor ours.

    None if it led to a converter of `own_file`: that makes copies of itself while it compiles (DDPOptimizer).
    """
    for frame in frames_outwards():
        if not is_in(frame, folder):
            return line_of(frame)
        if frame.f_code.co_filename == own_file and frame.f_code.co_name == "__call__":
            return None
    return None


def frames_outwards() -> Iterator[FrameType]:
    """The frames of the stack, the caller's first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def is_in(frame: FrameType, folder: str) -> bool:
    """Whether a frame is of torch, which lies in that folder, or ours."""
    return frame.f_code.co_filename.startswith((folder, _PACKAGE_FOLDER))
