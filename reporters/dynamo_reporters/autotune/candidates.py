"""The candidates of one graph beside each other: a table, and how fast each is."""

from collections.abc import Iterator, Sequence

from dynamo_core.analysis.graphs.node_text import TIMES
from dynamo_core.analysis.words import seconds
from dynamo_core.autotune.decision import LEAST_PAIRS, Standing, beside, fastest, is_far_behind, standing
from dynamo_core.timing.ratios import SURE, Ratio
from dynamo_core.tuned.measurement import AGREES, Measurement

from ..page.blocks import Estimate, Intervals, Table, table

_WINNER = "★"


def candidates_table(measurements: Sequence[Measurement], winner: str | None) -> Table:
    """A row a candidate, from the simplest; compared with the winner, or else with the fastest."""
    best = best_of(measurements, winner)
    reference = "the winner" if winner is not None else "the fastest"

    def shown(each: Measurement, part: float | None) -> str:
        whole, beside_best = each.seconds, seconds_beside(each, best)
        return "" if part is None or not whole or beside_best is None else seconds(part * beside_best / whole)

    return table(
        f"|candidate|forward>|backward>|beside {reference}>|{SURE * 100:.0f} %|compile>|verdict",
        [
            [
                _WINNER if each.candidate == winner else "",
                each.candidate,
                shown(each, each.forward_seconds),
                shown(each, each.backward_seconds),
                *_beside(each, best),
                "" if each.compile_seconds is None else seconds(each.compile_seconds),
                _verdict(each, best, winner),
            ]
            for each in measurements
        ],
    )


def candidates_intervals(measurements: Sequence[Measurement], winner: str | None) -> Iterator[Intervals]:
    """How fast each is beside the winner or the fastest, where enough rounds say it."""
    best = best_of(measurements, winner)
    estimates = []
    for each in measurements:
        ratio = _ratio(each, best)
        if ratio is not None and ratio.interval is not None:
            low, high = ratio.interval
            estimates.append(Estimate(each.candidate, 1 / ratio.estimate, 1 / high, 1 / low))
    if best is not None and estimates:
        yield Intervals(f"as fast as {best.candidate} ({SURE * 100:.0f} %)", estimates)


def best_of(measurements: Sequence[Measurement], winner: str | None) -> Measurement | None:
    """The one that the others are compared with: the winner, or else the fastest."""
    return next((each for each in measurements if each.candidate == winner), fastest(measurements))


def seconds_beside(measurement: Measurement, best: Measurement | None) -> float | None:
    """What a call takes: of the best one in its typical round, and of others what the ratio makes of that.

    Another one's own typical round may have met the machine in another state, in which all were faster.
    """
    ratio = _ratio(measurement, best)
    if ratio is None or best is None or best.seconds is None:
        return measurement.seconds
    return best.seconds * ratio.estimate


def _beside(measurement: Measurement, best: Measurement | None) -> tuple[str, str]:
    """How many times as long it takes, round by round, and the interval."""
    ratio = _ratio(measurement, best)
    if ratio is None:
        return "", ""
    between = "" if ratio.interval is None else f"{ratio.interval[0]:.2f} to {ratio.interval[1]:.2f}"
    return f"{ratio.estimate:.2f}{TIMES}", between


def _ratio(measurement: Measurement, best: Measurement | None) -> Ratio | None:
    """None of the one that the others are compared with, and where too few rounds are behind it."""
    ratio = None if best is None or measurement is best else beside(measurement, best)
    return None if ratio is None or ratio.rounds < LEAST_PAIRS else ratio


def _verdict(measurement: Measurement, best: Measurement | None, winner: str | None) -> str:
    found = standing_of(measurement, best, winner)
    return measurement.verdict if found is None else found


def standing_of(measurement: Measurement, best: Measurement | None, winner: str | None) -> Standing | None:
    """What it is beside the best one; None of one that could not be timed."""
    if measurement.verdict != AGREES:
        return None
    if winner is None or best is None:
        return "slower" if is_far_behind(measurement, best) else "undecided"
    return standing(measurement, best)
