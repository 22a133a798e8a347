"""A guard that failed, in a few words."""

from ..model import GuardFailure


def what_differed(failure: GuardFailure) -> str:
    """`size of x at dimension 0`, `dtype of x`, or torch's own words."""
    if failure.kind == "other" or failure.source is None:
        return failure.check or "torch does not say"
    at = f" at dimension {failure.index}" if failure.index is not None else ""
    return f"{failure.kind} of {failure.source}{at}"
