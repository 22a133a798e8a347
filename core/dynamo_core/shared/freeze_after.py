"""When `--freeze-after` says to stop compiling: `100`, `2.5s`, `forward=100`.

Both sides of the process boundary import this module, so it needs the standard library only.
"""

import re

from .quick_dataclass import dataclass

_SECONDS = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*s")


@dataclass(frozen=True)
class FreezeAfter:
    """`calls` of compiled graphs, of all or of one `function`'s; or `seconds` without a compile."""

    calls: int | None = None
    seconds: float | None = None
    function: str | None = None


def parse_freeze_after(text: str) -> FreezeAfter:
    """What the user typed; ValueError says what is wrong."""
    in_seconds = _SECONDS.fullmatch(text.strip())
    if in_seconds and float(in_seconds[1]) > 0:
        return FreezeAfter(seconds=float(in_seconds[1]))
    function, equals, number = text.strip().rpartition("=")
    if not number.isdecimal() or int(number) < 1 or (equals and not function):
        raise ValueError(
            f"{text!r} is neither a number of calls (100), a time without a compile (5s) "
            "nor a function's calls (forward=100)"
        )
    return FreezeAfter(calls=int(number), function=function or None)
