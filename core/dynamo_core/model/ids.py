"""Compile ids, places in the source and stack frames, and the names of resume functions."""

import re
from typing import NamedTuple

UNKNOWN_FILE = "<unknown>"  # where a trace does not name the file of a line


class CompileId(NamedTuple):
    """torch's `0/1`: the number of the frame, and that of the compile of it, both from 0.

    Compiled autograd puts its own number in front (`!2/0/1`), and compiles graphs without a frame (`!2`).
    After `torch._dynamo.reset()` torch's ids start again from 0; `generation` distinguishes them, and is not
    shown.

    Source: torch/_guards.py (CompileId.__str__), 2.8 to 2.15.
    """

    frame: int | None
    compile: int | None
    autograd: int | None = None
    generation: int = 0

    @property
    def of_frame(self) -> "CompileId":
        """The id without the compile's own number, which all compiles of a frame have in common."""
        return self._replace(compile=None)

    def __str__(self) -> str:
        parts = [] if self.autograd is None else [f"!{self.autograd}"]
        if self.frame is not None:
            parts += [str(self.frame), str(self.compile)]
        return "/".join(parts)


class Place(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class StackFrame(NamedTuple):
    """A line of a user's stack: its place, its function, and its text if known."""

    place: Place
    function: str
    text: str


_RESUME_FUNCTION = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d{1,9})$")


def resumed_function(name: str | None) -> tuple[str, int] | None:
    """The function that a resume function continues, and the line of the break; None for other frames.

    Source: torch/_dynamo/resume_execution.py (TORCH_DYNAMO_RESUME_IN_PREFIX), 2.8 to 2.15.
    """
    found = _RESUME_FUNCTION.match(name) if name else None
    return (found[1], int(found[2])) if found else None


def function_of(name: str | None) -> str:
    """The function of a frame; for a resume function, the function that it continues."""
    resumed = resumed_function(name)
    return resumed[0] if resumed else name or ""
