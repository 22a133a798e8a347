"""Speed-ups and their intervals, as text and to be drawn."""

from collections.abc import Iterable, Iterator

from ..page.blocks import Estimate, Intervals


def factor(value: float) -> str:
    """Two rounds that differ a little have bounds beyond anything that a speed-up can be."""
    return "> 100" if value > 100 else "< 0.01" if value < 0.01 else f"{value:.2f}"


def interval(low: float, high: float) -> str:
    """An interval of speed-ups, `0.86 to 0.96`."""
    return f"{factor(low)} to {factor(high)}"


def speed_ups_drawn(estimates: Iterable[Estimate]) -> Iterator[Intervals]:
    """Nothing where none has an interval."""
    found = list(estimates)
    if found:
        yield Intervals("speed-up over eager (95 %)", found)
