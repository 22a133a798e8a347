"""What each graph break costs, as a table."""

from collections.abc import Iterator

from dynamo_core.analysis.break_costs import seconds_in_all
from dynamo_core.analysis.figures import Figures
from dynamo_core.analysis.findings.in_order import ranked_breaks
from dynamo_core.analysis.words import number, place, seconds
from dynamo_core.model import Recording

from ..page.blocks import Block, Heading, Paragraph, table

_ROWS_SHOWN = 5
_TOGETHER = " Breaks that follow one another with no graph in between have that time together."


def break_cost_blocks(recording: Recording, show_all: bool) -> Iterator[Block]:
    """The breaks with what they cost, in the order of the findings."""
    costs = ranked_breaks(Figures(recording))
    if not costs:
        return
    in_all = seconds_in_all(costs)
    yield Heading(f"Graph breaks: {'what they cost was not recorded' if in_all is None else seconds(in_all)}")
    rows = []
    for cost in costs if show_all else costs[:_ROWS_SHOWN]:
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
    if len(costs) > len(rows):
        yield Paragraph(f"… and {number(len(costs) - len(rows), 'more break')}: --all.", "dim")
    yield Paragraph(
        "From the graph before a break to the one after it, on average over a sample: fixing the break "
        "saves at most this. `dynamo breaks` says how."
        + (_TOGETHER if any(cost.along_with for cost in costs) else ""),
        "dim",
    )
