"""What differs between two texts although nothing of the program does: addresses, times, random ids."""

import re

# As `repr` writes it, and as `id` gives it: of a heap and of a mapped library, on 64-bit Linux.
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,16}(?![0-9a-fA-F])|(?<!\d)(?:1[34]\d{13}|9[34]\d{12})(?!\d)")
# Since the epoch in seconds, ms, µs or ns, until 2033; or a date with a time of day.
_TIME = re.compile(
    r"(?<!\d)1[6-9]\d{8}(?:\d{3}|\d{6}|\d{9})?(?:\.\d{1,9})?(?!\d)"
    r"|(?<!\d)20\d\d-[01]\d-[0-3]\d[T _][0-2]\d:?[0-5]\d(?::?[0-5]\d(?:\.\d{1,9})?)?(?!\d)"
)
_RANDOM_ID = re.compile(
    r"(?<!\w)[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}(?!\w)"
)
_PASSING = {"a memory address": _ADDRESS, "a time": _TIME, "a random id": _RANDOM_ID}


def passing_difference(before: str, after: str) -> str | None:
    """`a memory address`, say, if that alone is not the same in two texts; None where more differs."""
    if before == after:
        return None
    for what, pattern in _PASSING.items():
        if pattern.sub("…", before) == pattern.sub("…", after):
            return what
    for pattern in _PASSING.values():
        before, after = pattern.sub("…", before), pattern.sub("…", after)
    return "memory addresses and times" if before == after else None


def passing_values(before: str, after: str) -> tuple[str, str] | None:
    """The first such value in which two texts differ, as each has it."""
    for pattern in _PASSING.values():
        for was, now in zip(pattern.findall(before), pattern.findall(after), strict=False):
            if was != now:
                return was, now
    return None
