"""What is in the way of an export: the line, the cause, what to do, and torch's words."""

from collections.abc import Iterator, Sequence

from dynamo_core.analysis.words import alternatives, number, place
from dynamo_core.exports.obstacles import Obstacle

from ..page.blocks import Block, Heading, Paragraph

_SHOWN = 6


def obstacle_blocks(obstacles: Sequence[tuple[Obstacle, str]]) -> Iterator[Block]:
    """The first of them, each with what it is to the export, in words that follow its line."""
    for obstacle, what in obstacles[:_SHOWN]:
        yield from _obstacle(obstacle, what)
    if len(obstacles) > _SHOWN:
        rest = number(len(obstacles) - _SHOWN, "more obstacle")
        yield Paragraph(f"… and {rest}; --format json has all", "dim")


def _obstacle(obstacle: Obstacle, what: str) -> Iterator[Block]:
    unknown = "A file that the trace does not name" if obstacle.source else "No line is known"
    where = place(obstacle.place) if obstacle.place is not None else unknown
    yield Heading(f"{where}, {what}", 3)
    lines = [obstacle.source, obstacle.cause]
    if obstacle.via is not None:
        lines.append(f"in the library at {place(obstacle.via.place)}: {obstacle.via.text}")
    yield Paragraph("\n".join(filter(None, lines)))
    for text in alternatives(obstacle.remedies):
        yield Paragraph(f"→ {text}", "advice")
    if obstacle.words:
        yield Paragraph(f"torch: {obstacle.words}", "dim")
