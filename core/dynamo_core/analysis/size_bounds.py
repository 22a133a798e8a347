"""Which checks on a dynamic size a line of the program brought about, and which torch makes by itself.

Source: torch/fx/experimental/symbolic_shapes.py (produce_guards_verbose): the range of a size is one check,
with what it is due to behind it, joined by "and"; that it is not 0 or 1 is due to no line, though one is
shown. Inductor adds bounds, which no line of the program stands behind. Read with 2.13.
"""

import re

from ..model import Place
from ..recording.guard_text import parse_check

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
