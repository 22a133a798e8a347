"""What each graph break costs: the time from the graph that ends at it to the graph that begins behind it.

That time holds what runs eagerly there, the rest of the broken frame, and finding the resume function and
checking its guards. It is what mending the break can win at most.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dynamo_core.model import CallTimes, Recording

from ..breaks.effects import Crossing, DistinctBreak, distinct_breaks
from ..page.blocks import Block, Heading, Paragraph, table
from ..report import place_value
from ..text import place, seconds


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
    costs = [_cost(each) for each in distinct_breaks(recording)]
    return sorted(costs, key=lambda cost: (cost.seconds is None, -(cost.seconds or 0.0)))


def _cost(each: DistinctBreak) -> BreakCost:
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


def break_cost_blocks(recording: Recording) -> Iterator[Block]:
    """The breaks by what they cost."""
    costs = break_costs(recording)
    if not costs:
        return
    known = [cost.seconds for cost in costs if cost.seconds is not None]
    yield Heading(f"Graph breaks: {seconds(sum(known)) if known else 'what they cost was not recorded'}")
    rows = []
    for cost in costs:
        first, crossed = cost.distinct.first, cost.distinct.crossed
        rows.append(
            [
                f"{place(first.place)} {first.kind}",
                "not recorded" if crossed is None else f"{crossed:,}",
                seconds(cost.seconds_each),
                seconds(cost.seconds),
            ]
        )
    yield table("break|crossed>|each>|in all>", rows)
    yield Paragraph(
        "From the end of the graph before a break to the begin of the one behind it, on average over a "
        "sample: what runs eagerly there, finding the resume function and checking its guards. It is the "
        "most that mending the break can win. `dynamo breaks` says how.",
        "dim",
    )


def break_cost_values(recording: Recording) -> list[dict[str, Any]]:
    """The same as JSON values."""
    return [
        {
            "place": place_value(cost.distinct.first.place),
            "kind": cost.distinct.first.kind,
            "crossed": cost.distinct.crossed,
            "seconds_each": cost.seconds_each,
            "seconds": cost.seconds,
            "timed_crossings": cost.timed,
        }
        for cost in break_costs(recording)
    ]
