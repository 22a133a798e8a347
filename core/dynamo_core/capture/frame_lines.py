"""The line that a frame is at, as a frame of a stack is recorded, and the line of its function's `def`."""

import linecache
from types import CodeType, FrameType
from typing import Any

_MOST_DECORATING = 100  # lines above a `def`


def line_of(frame: FrameType) -> dict[str, Any]:
    """File, line, function and text of the line."""
    file, line = frame.f_code.co_filename, frame.f_lineno
    return {
        "file": file,
        "line": line,
        "name": frame.f_code.co_name,
        "text": linecache.getline(file, line).strip(),
    }


def def_line(code: CodeType) -> int | None:
    """The line of a decorated function's `def`; None where the code begins there, or the source is not known.

    The code of a decorated function begins with the first of its decorators (co_firstlineno).
    """
    first = code.co_firstlineno
    lines = (
        linecache.getlines(code.co_filename)[first - 1 : first - 1 + _MOST_DECORATING] if first > 0 else []
    )
    if not lines or not lines[0].lstrip().startswith("@"):
        return None
    begins = (f"def {code.co_name}", f"async def {code.co_name}")
    for number, line in enumerate(lines, first):
        text = line.lstrip()
        if any(text.startswith(begin) and text[len(begin) :].lstrip()[:1] in ("(", "[") for begin in begins):
            return number
    return None
