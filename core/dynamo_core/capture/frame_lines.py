"""The line that a frame is at, as a frame of a stack is recorded."""

import linecache
from types import FrameType
from typing import Any


def line_of(frame: FrameType) -> dict[str, Any]:
    """File, line, function and text of the line."""
    file, line = frame.f_code.co_filename, frame.f_lineno
    return {
        "file": file,
        "line": line,
        "name": frame.f_code.co_name,
        "text": linecache.getline(file, line).strip(),
    }
