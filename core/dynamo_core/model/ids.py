"""Which compile, which line of the program: what everything else in the model is told apart by."""

import re
from typing import NamedTuple

UNKNOWN_FILE = "<unknown>"  # of a line whose file a trace does not name


class CompileId(NamedTuple):
    """torch's `0/1`: which frame, and which compile of it, both from 0.

    Compiled autograd puts its own number in front (`!2/0/1`), and compiles graphs of no frame (`!2`). After
    `torch._dynamo.reset()` torch's ids begin anew; `generation` tells them apart, and is not shown.
    Source: torch/_guards.py (CompileId.__str__), 2.8 to 2.15.
    """

    frame: int | None
    compile: int | None
    autograd: int | None = None
    generation: int = 0

    @property
    def of_frame(self) -> "CompileId":
        """What all compiles of its frame have in common: the id without the compile's own number."""
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
    """A line of a user's stack: where, in which function, and its text if known."""

    place: Place
    function: str
    text: str


_RESUME_FUNCTION = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d{1,9})$")


def resumed_function(name: str | None) -> tuple[str, int] | None:
    """The function that a resume function is the rest of, and the line it broke at; None for other frames.

    Source: torch/_dynamo/resume_execution.py (TORCH_DYNAMO_RESUME_IN_PREFIX), 2.8 to 2.15.
    """
    found = _RESUME_FUNCTION.match(name) if name else None
    return (found[1], int(found[2])) if found else None


def function_of(name: str | None) -> str:
    """The function that a frame is of, whatever line it was resumed at."""
    resumed = resumed_function(name)
    return resumed[0] if resumed else name or ""
