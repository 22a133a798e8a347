"""Shares of a whole in percent, rounded so that what adds up is shown as adding up to 100 %."""

from collections.abc import Sequence


def shares_of(parts: Sequence[float | None], whole: float, digits: int = 1) -> list[str]:
    """Each part in percent; "" for one that is not known. Parts that are more than the whole are shown so.

    All are rounded down, and what is then missing of their sum goes to those that lost most: none is off by
    more than a unit of its last digit.
    """
    if not whole:
        return ["" for _ in parts]
    exact = [100 * 10**digits * (part or 0.0) / whole for part in parts]
    shown = [int(each) for each in exact]
    missing = round(sum(exact)) - sum(shown)
    lost = sorted(range(len(parts)), key=lambda at: shown[at] - exact[at])
    for at in lost[:missing]:
        shown[at] += 1
    return [
        "" if part is None else f"{each / 10**digits:.{digits}f}%"
        for part, each in zip(parts, shown, strict=True)
    ]
