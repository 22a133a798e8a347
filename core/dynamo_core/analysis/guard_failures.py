"""A guard that failed, in a few words."""

import re

from ..model import GuardFailure
from .line_parts import changed_by
from .size_bounds import is_not_0_or_1

# torch's name for what stood on Python's stack at a break (torch/_dynamo/resume_execution.py, 2.8 to 2.15).
_ON_STACK = "___stack"
_GLOBAL = re.compile(r"G\['([^'\n]{1,200})'\]")


def what_differed(failure: GuardFailure) -> str:
    """`size of x at dimension 0`, `dtype of x`, or torch's own words."""
    if failure.kind == "other" or failure.source is None:
        return failure.check or "torch does not say"
    if _is_0_or_1(failure):
        return f"size of {failure.source} at dimension {failure.index}"
    at = f" at dimension {failure.index}" if failure.index is not None else ""
    at_break = ", a value made at the graph break" if is_of_a_break(failure) else ""
    return f"{failure.kind} of {failure.source}{at}{at_break}"


def compiled_for(failure: GuardFailure) -> str | None:
    """The value that it was compiled for, or those that it can have; None where torch does not say."""
    return "2 or more" if failure.expected is None and _is_0_or_1(failure) else failure.expected


def came(failure: GuardFailure, known: str | None) -> str | None:
    """What came instead, which is `known`; or what it must have been."""
    return "0 or 1" if known is None and _is_0_or_1(failure) else known


def _is_0_or_1(failure: GuardFailure) -> bool:
    """Whether it is about a dynamic size, which only 0 and 1 do not fit."""
    return failure.kind == "relation of sizes" and failure.index is not None and is_not_0_or_1(failure.check)


def is_of_a_break(failure: GuardFailure) -> bool:
    """Whether it is about what stood on Python's stack at a graph break, and has no name."""
    return (failure.source or "").startswith(_ON_STACK)


def is_of_length(failure: GuardFailure) -> bool:
    """Whether it is about how much a list or a dictionary holds."""
    return failure.kind in ("length", "dictionary")


def lengthened_by(line: str, failure: GuardFailure) -> str | None:
    """The list or dictionary that a guard is on, as the program names it, if the line changes its length."""
    name = _GLOBAL.sub(r"\1", failure.source or "")
    return name if is_of_length(failure) and name in changed_by(line) else None
