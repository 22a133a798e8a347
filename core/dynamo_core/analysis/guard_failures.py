"""A guard that failed, in a few words."""

from ..model import GuardFailure

# torch's name for what stood on Python's stack at a break (torch/_dynamo/resume_execution.py, 2.8 to 2.15).
_ON_STACK = "___stack"


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
