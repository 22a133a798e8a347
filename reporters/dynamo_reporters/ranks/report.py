"""The ranks beside each other: their counts, where they first differ, and who waits for whom."""

from collections.abc import Iterator, Sequence
from typing import Literal

from dynamo_core.analysis.ranks import Difference, RankRow, Ranks, Wait, compare_ranks
from dynamo_core.analysis.ranks.members import named
from dynamo_core.analysis.words import number, place, seconds, time_of_day
from dynamo_core.compare.node_changes import SourceLines
from dynamo_core.model import Recording
from dynamo_core.recording.calls import CALL_SAMPLES
from dynamo_core.recording.flight_recorder import FLIGHT_RECORDER
from dynamo_core.shared import names

from ..documents import json_value
from ..page.blocks import Block, Bullets, Heading, Paragraph, table
from ..report import Report
from .waited import came_late, compiled_meanwhile

# The nodes of every graph, and for a trace that is not ours its readable code; who waited when.
_CONTENTS = frozenset({names.FX_GRAPH, "dynamo_output_graph", FLIGHT_RECORDER, CALL_SAMPLES})
_COLLECTIVES_SHOWN = 6
_WORTH_A_TITLE = 1.0  # seconds


def report() -> Report:
    """The report of `dynamo ranks`."""
    return Report(
        "dynamo-ranks",
        1,
        _CONTENTS,
        _page,
        lambda recording: json_value(compare_ranks(recording)),
        one_for_alike=True,
    )


def in_short(ranks: Ranks, lines: SourceLines) -> Iterator[Block]:
    """Of several ranks: who waits for whom, their counts, and the first difference."""
    yield from _waiting(ranks.waiting)
    yield _rows(ranks.rows)
    for difference in ranks.differences[:1]:
        yield from _difference(difference, lines)


def _page(recording: Recording) -> Iterator[Block]:
    ranks = compare_ranks(recording)
    count = sum(len(row.ranks) for row in ranks.rows)
    if count < 2:
        what = "One rank was recorded" if count else "No rank was recorded"
        yield Heading(f"{what}: there is nothing to compare.", 1)
        yield Paragraph(
            "The rank of a process is in its environment (RANK) and in torch's trace of what it compiles.",
            "dim",
        )
        return
    yield Heading(f"{number(count, 'rank')}: {ranks.verdict or _no_difference(ranks)}", 1)
    yield from _waiting(ranks.waiting[1:])  # the first is the page's title
    yield _rows(ranks.rows)
    lines = SourceLines(recording)
    yield from _differences(ranks.differences, lines)
    yield from _waits(ranks)
    yield from came_late(ranks.late)
    yield from compiled_meanwhile(ranks.compile_waits)
    yield Heading("What was compared")
    if ranks.compared:
        yield Paragraph(f"The same on all ranks: {'; '.join(ranks.compared)}.")
    yield Paragraph(f"Not compared: {'; '.join(ranks.not_compared)}.", "dim")
    if ranks.left_out:
        yield Paragraph(f"Left out: {'; '.join(ranks.left_out)}.")


def _no_difference(ranks: Ranks) -> str:
    text = "no difference in what was compared"
    longest = next(iter(ranks.late), None)
    if longest is None or longest.seconds < _WORTH_A_TITLE:
        return text
    longer = seconds(longest.seconds)
    return f"{text}, but calls with a collective took {longer} longer on others than on rank {longest.rank}"


def _rows(rows: tuple[RankRow, ...]) -> Block:
    cells = [
        [
            named(row.ranks).partition(" ")[2],
            row.state,
            *map(_count, (row.graphs, row.ops, row.graph_breaks, row.recompiles)),
            f"{row.cache_hits} of {row.cache_hits + row.cache_misses}",
            _range(row.least_compile_seconds, row.most_compile_seconds),
        ]
        for row in rows
    ]
    return table("ranks|state|graphs>|ops>|breaks>|recompiles>|cache hits>|compile time>", cells)


def _count(value: int | None) -> str:
    return "not recorded" if value is None else f"{value:,}"


def _range(least: float | None, most: float | None) -> str:
    low, high = seconds(least), seconds(most)
    return low if low == high else f"{low} to {high}"


def _differences(differences: Sequence[Difference], lines: SourceLines) -> Iterator[Block]:
    """What may be the cause of the others comes first; a setting is the consequence of none."""
    first = next((at for at, each in enumerate(differences) if each.subject != "settings"), len(differences))
    for difference in differences[: first + 1]:
        yield from _difference(difference, lines)
    if differences[first + 1 :]:
        yield Heading("Other differences, which may follow from that")
    for difference in differences[first + 1 :]:
        yield from _difference(difference, lines, level=3)


def _difference(difference: Difference, lines: SourceLines, level: Literal[2, 3] = 2) -> Iterator[Block]:
    yield Heading(difference.title[0].upper() + difference.title[1:], level)
    rows = [
        [
            named(side.ranks).partition(" ")[2],
            side.what,
            "" if side.place is None else place(side.place),
            lines.at(side.place),
        ]
        for side in difference.sides
    ]
    yield table("ranks|what|line|", rows)


def _waits(ranks: Ranks) -> Iterator[Block]:
    if not ranks.waits:
        return
    yield Heading("Not finished")
    yield Bullets([_wait(wait) for wait in ranks.waits])


def _waiting(sentences: Sequence[str]) -> Iterator[Block]:
    for sentence in sentences:
        yield Paragraph(f"{sentence[0].upper()}{sentence[1:]}.", "warning")


def _wait(wait: Wait) -> str:
    text = f"{named(wait.ranks)}: {wait.inside}, since {time_of_day(wait.since_ns)}"
    if wait.place is not None:
        text += f", at {place(wait.place)}"
    if wait.collectives:
        shown = wait.collectives[:_COLLECTIVES_SHOWN]
        rest = len(wait.collectives) - len(shown)
        text += f": {', '.join(shown)}" + (f" and {rest} more" if rest else "")
    return text
