"""What was measured of one backend on one graph, as `dynamo autotune` and `dynamo bench` have it in JSON."""

from collections.abc import Iterable, Iterator
from typing import Annotated

from dynamo_core.bench.comparison import Speed
from dynamo_core.shared.declared import Seconds
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.winners import Verdict

from ..page.blocks import Estimate, Intervals

# A `Round`: there are many, so it is a list and not an object.
RoundValue = tuple[float, float | None, float | None, bool]


@dataclass(frozen=True)
class Measured:
    """What came of it, and every round: `Measurement.as_json`, which has the names and rounds the numbers."""

    candidate: Annotated[str, "as --backend takes it"]
    verdict: Verdict
    reason: Annotated[str | None, "why it does not agree, or was not timed"]
    seconds: Annotated[
        Seconds | None,
        "of a call in a typical round (the median), forward and backward; null if no round counts",
    ]
    forward_seconds: Seconds | None
    backward_seconds: Annotated[Seconds | None, "null where nothing flows back"]
    compile_seconds: Annotated[Seconds | None, "with the first call, in which backwards are compiled"]
    rounds: Annotated[
        list[RoundValue],
        "on average over a batch of calls, the candidates in turn: seconds of the forward and of the "
        "backward, the share of the time in which something waited for a processor, whether the round counts",
    ]


# Speed-ups and their intervals, as text and to be drawn.


def factor(value: float) -> str:
    """Two rounds that differ a little have bounds beyond anything that a speed-up can be."""
    return "> 100" if value > 100 else "< 0.01" if value < 0.01 else f"{value:.2f}"


def interval(low: float, high: float) -> str:
    """An interval of speed-ups, `0.86 to 0.96`."""
    return f"{factor(low)} to {factor(high)}"


def megabytes(size: float | None) -> str:
    """A peak of memory as a cell of a table."""
    return "not recorded" if size is None else f"{size / 1e6:,.0f} MB"


def speed_ups_drawn(estimates: Iterable[Estimate]) -> Iterator[Intervals]:
    """Nothing where none has an interval."""
    found = list(estimates)
    if found:
        yield Intervals("speed-up over eager (95 %)", found)


def speed_cells(speed: Speed | None) -> dict[str, float | None]:
    """The cells of a speed-up in a row of CSV."""
    return {
        "speed_up": None if speed is None else speed.mean,
        "ci_low": None if speed is None else speed.low,
        "ci_high": None if speed is None else speed.high,
        "rounds": None if speed is None else speed.rounds,
    }
