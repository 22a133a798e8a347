"""What the rounds did not decide, and how busy the machine was meanwhile."""

from collections.abc import Iterator, Sequence

from dynamo_core.analysis.words import number
from dynamo_core.autotune.decision import Decision
from dynamo_core.autotune.distinct_graphs import DistinctGraph
from dynamo_core.autotune.tuning import Result
from dynamo_core.tuned.measurement import AGREES, Measurement

from ..page.blocks import Block, Bullets, Heading, Paragraph

# The page says so where something waited for a processor in this share of a batch, and of the batches.
_BUSY = 0.1


def undecided_blocks(undecided: Sequence[tuple[DistinctGraph, Result, Decision]]) -> Iterator[Block]:
    """The graphs without a winner: what is open, what is done about it, and what would decide."""
    if not undecided:
        return
    yield Heading("Undecided")
    yield Bullets([_what_is_open(*each) for each in undecided], "warning")
    yield Paragraph(
        "Nothing was stored for them: `--backend autotuned` leaves them to the next backend of its chain, or "
        "to Inductor. What decides: a machine that does nothing else, or a longer --budget."
    )


def _what_is_open(graph: DistinctGraph, result: Result, decision: Decision) -> str:
    which = f"graph {graph.first.number}"
    if not decision.between or result.tuned is None:
        return f"{which}: no candidate could be used"
    sound = [each for each in result.tuned.measurements if each.verdict == AGREES]
    rounds = max(len(each.rounds) for each in sound)
    counted = min(len(each.counted) for each in sound if len(each.rounds) == rounds)
    text = f"{which}: {_listed(decision.between)}, after {number(rounds, 'round')}"
    if counted < rounds:
        text += f", of which {counted} count: in others threads waited, or new processes did not confirm them"
    return text + ("" if result.stored is None else f". The winner of {result.stored.measured} stays stored")


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def busy_blocks(measurements: Sequence[Measurement]) -> Iterator[Block]:
    """How much else went on, where that was more than a little."""
    rounds = [each for one in measurements for each in one.rounds if each.busy is not None]
    busy = [each for each in rounds if (each.busy or 0.0) > _BUSY]
    held_up = sum(not each.counts for each in rounds)
    if len(busy) > _BUSY * len(rounds):
        left_out = f"; {held_up} batches do not count" if held_up else ""
        yield Paragraph(
            f"The machine was busy: in {len(busy)} of {len(rounds)} batches of calls, something waited for a "
            f"processor for more than {_BUSY * 100:.0f} % of the time. What a single thread waited is left "
            f"out of its time{left_out}.",
            "warning",
        )
