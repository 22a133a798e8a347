"""What each graph break costs, as a table and as JSON values."""

from collections.abc import Iterator
from typing import Any

from dynamo_core.analysis.break_costs import break_costs
from dynamo_core.analysis.words import place, seconds
from dynamo_core.model import Recording

from ..page.blocks import Block, Heading, Paragraph, table
from ..report import place_value


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
        "sample: what runs eagerly there, finding the resume function and checking its guards. Fixing "
        "the break saves at most this. `dynamo breaks` says how.",
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
