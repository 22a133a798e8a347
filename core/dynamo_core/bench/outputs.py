"""Whether two runs of a program printed the same."""

import re
from math import isfinite
from typing import Annotated, Literal

from ..shared.quick_dataclass import dataclass

_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.?\d+)(?:[eE][-+]?\d+)?")

# How much of what a run prints is kept for the comparison, in bytes.
LONGEST_OUTPUT = 4 << 20

Likeness = Literal["same", "numbers", "different"]


@dataclass(frozen=True)
class OutputComparison:
    """The `same` text; the same but for its `numbers`; or `different`."""

    likeness: Likeness
    relative_difference: Annotated[float | None, "the largest of any number"] = None
    line: Annotated[int | None, "the first that differs, from 1"] = None
    is_partial: Annotated[bool, "whether only the first 4 MiB were compared"] = False


def compare_outputs(expected: str, actual: str) -> OutputComparison:
    """Compare what two runs wrote to stdout."""
    if expected == actual:
        return OutputComparison("same")
    line = _first_difference(expected, actual)
    if _NUMBER.sub("#", expected) != _NUMBER.sub("#", actual):
        return OutputComparison("different", None, line)
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(actual), strict=True)
    return OutputComparison("numbers", max(_relative(float(a), float(b)) for a, b in pairs), line)


def _first_difference(expected: str, actual: str) -> int:
    lines = zip(expected.splitlines(), actual.splitlines(), strict=False)
    equal = [a == b for a, b in lines]
    return equal.index(False) + 1 if False in equal else len(equal) + 1


def _relative(a: float, b: float) -> float:
    if a == b:
        return 0.0
    return abs(a - b) / max(abs(a), abs(b)) if isfinite(a) and isfinite(b) else 1.0
