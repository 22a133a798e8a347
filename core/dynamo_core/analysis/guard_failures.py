"""A guard that failed, in a few words."""

import re

from ..model import GuardFailure
from .remedies.line_parts import changed_by

# torch's name for what stood on Python's stack at a break (torch/_dynamo/resume_execution.py, 2.8 to 2.15).
_ON_STACK = "___stack"
_GLOBAL = re.compile(r"G\['([^'\n]{1,200})'\]")


def what_differed(failure: GuardFailure) -> str:
    """`size of x at dimension 0`, `dtype of x`, or torch's own words."""
    if failure.kind == "other" or failure.source is None:
        return failure.check or "torch does not say"
    at = f" at dimension {failure.index}" if failure.index is not None else ""
    at_break = ", a value made at the graph break" if is_of_a_break(failure) else ""
    return f"{failure.kind} of {failure.source}{at}{at_break}"


def is_of_a_break(failure: GuardFailure) -> bool:
    """Whether it is about what stood on Python's stack at a graph break, and has no name."""
    return (failure.source or "").startswith(_ON_STACK)


def lengthened_by(line: str, failure: GuardFailure) -> str | None:
    """The list or dictionary that a guard is on, as the program names it, if the line changes its length."""
    name = _GLOBAL.sub(r"\1", failure.source or "")
    return name if failure.kind in ("length", "dictionary") and name in changed_by(line) else None
