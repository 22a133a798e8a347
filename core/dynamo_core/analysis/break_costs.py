"""What each graph break costs: the time from the graph that ends at it to the graph that begins behind it.

That time holds what runs eagerly there, the rest of the broken frame, and finding the resume function and
checking its guards. Fixing the break saves at most this.
"""

from dataclasses import dataclass

from ..model import CallTimes, Recording
from .break_effects import Crossing, DistinctBreak, distinct_breaks


@dataclass(frozen=True)
class BreakCost:
    """A break and what it costs. Seconds are None where no crossing was timed; `timed` says how many were."""

    distinct: DistinctBreak
    seconds_each: float | None
    timed: int

    @property
    def seconds(self) -> float | None:
        """In the whole run, so far as crossings were counted."""
        crossed = self.distinct.crossed
        return None if self.seconds_each is None or crossed is None else self.seconds_each * crossed


def break_costs(recording: Recording) -> list[BreakCost]:
    """Every distinct break, the costliest first; then those that cost an unknown time."""
    costs = [break_cost(each) for each in distinct_breaks(recording)]
    return sorted(costs, key=lambda cost: (cost.seconds is None, -(cost.seconds or 0.0)))


def break_cost(each: DistinctBreak) -> BreakCost:
    """What this one costs."""
    shallowest = min((crossing.depth for crossing in each.crossings), default=0)
    gaps = [gap for crossing in each.crossings if crossing.depth == shallowest for gap in _gaps(crossing)]
    return BreakCost(each, sum(gaps) / len(gaps) if gaps else None, len(gaps))


def _gaps(crossing: Crossing) -> list[float]:
    """The times from a graph before the break to one behind it, where nothing else was called in between."""
    before = {graph.calls_index for graph in crossing.before}
    times: list[CallTimes] = [graph.times for graph in crossing.after if graph.times is not None]
    return [
        call.since_previous
        for each in times
        for call in each.samples
        if call.since_previous is not None and call.previous in before
    ]
