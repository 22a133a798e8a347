"""The record of hooks that compiled code does not call."""

from typing import Any

from . import names
from .our_record import OurRecord


class HooksNotCalled(OurRecord):
    """Hooks that `line` put on modules of `graphs` after these were compiled, so that no call called them.

    `what` they are ("forward hook", …), on modules of these `classes`. `left_out` is how often a graph was
    called while one was in place, of all hooks together.
    """

    NAME = names.HOOKS_NOT_CALLED

    line: dict[str, Any]
    what: str
    classes: list[str]
    graphs: list[int]
    hooks: int
    left_out: int
