"""A guard that failed, in a few words."""

import re

from ..model import GuardFailure, Place
from ..recording.guards import parse_check
from .source_lines import changed_by

# Which checks on a dynamic size a line of the program brought about, and which torch makes by itself.
#
# Source: torch/fx/experimental/symbolic_shapes.py (produce_guards_verbose): the range of a size is one check,
# with what it is due to behind it, joined by "and"; that it is not 0 or 1 is due to no line, though one is
# shown. Inductor adds bounds, which no line of the program stands behind. Read with 2.13.


# The range of a size of which torch demands no more than that it is not 0 or 1, or that it is not too large.
_RANGE = re.compile(r"2 <= [^\s<>=]{1,400}( <= \d{1,20})?")
_NOT_0_OR_1 = "0/1 specialization"  # in torch's remark on that
_AND = ") and "


def is_not_0_or_1(check: str) -> bool:
    """Whether a size of 0 or 1 is all that a check rejects."""
    found = _RANGE.fullmatch(check)
    return found is not None and found[1] is None


def rejects_0_and_1(check: str) -> bool:
    """Whether a check rejects sizes of 0 and 1, and perhaps large ones."""
    return _RANGE.fullmatch(check) is not None


def deciding_line(
    check: str, user_code: str | None, place: Place | None, remark: str | None
) -> tuple[str, Place] | None:
    """The user's line that made torch check more of a size than of every one; None if none did."""
    if is_not_0_or_1(check):
        return None
    if remark is not None and _NOT_0_OR_1 in remark:
        # The line before the remark is only the first on which the size is used.
        rest = remark.partition(_NOT_0_OR_1)[2].partition(_AND)[2]
        behind = parse_check("", "", f"_  # {rest}")
        user_code, place = behind.user_code, behind.place
    return (user_code, place) if user_code and place is not None else None


# A guard that failed, in a few words.


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
