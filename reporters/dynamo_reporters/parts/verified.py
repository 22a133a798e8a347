"""What --verify found: how many graphs agree with eager, and the first that does not."""

from collections.abc import Iterator
from typing import Annotated

from dynamo_core.analysis.verification import verification
from dynamo_core.analysis.verification_sentences import not_compared_lines, verified_sentence, wrong_lines
from dynamo_core.analysis.words import seconds
from dynamo_core.model import ComparedValue, CompileId, Process, Recording, WrongNode
from dynamo_core.shared.declared import Count, Seconds
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.records import VerifyOutcome

from ..page.blocks import Block, Bullets, Heading, Paragraph


def verified_blocks(recording: Recording) -> Iterator[Block]:
    """The section of `dynamo explain`."""
    found = verification(recording)
    if found is None:
        return
    yield Heading("Verified")
    yield Paragraph(f"{verified_sentence(found)}. Comparing took {seconds(found.seconds)}.")
    notes = [*wrong_lines(found, recording), *not_compared_lines(found, recording)]
    if notes:
        yield Bullets(notes)


def verified_lines(recording: Recording) -> list[str]:
    """The lines at the end of a run."""
    found = verification(recording)
    if found is None:
        return []
    notes = [*wrong_lines(found, recording), *not_compared_lines(found, recording)]
    return [f"{verified_sentence(found)}.", *(f"  {note}" for note in notes)]


@dataclass(frozen=True)
class CallBesideEager:
    """A call of a compiled graph beside eager."""

    process: Process
    compile_id: CompileId | None
    graph: int
    call: Annotated[int, "from 1"]
    outcome: VerifyOutcome
    why: Annotated[str | None, "why nothing was compared"]
    compared: Annotated[Count, "values: outputs, inputs changed in place, gradients"]
    against_float64: Annotated[
        Count, "how many of them were measured by the graph in float64; the others by eager"
    ]
    gradients: Annotated[str | None, "compared, or why not; null where there are none"]
    worst: Annotated[ComparedValue | None, "the value nearest to its limit, or furthest beyond it"]
    first_wrong: ComparedValue | None
    node: Annotated[WrongNode | None, "the first node whose value disagrees"]
    node_unknown: Annotated[str | None, "why the wrong node is not known"]
    seconds: Seconds


@dataclass(frozen=True)
class Verified:
    """What --verify found."""

    graphs: Annotated[Count, "graphs that were compiled"]
    agree: Count
    disagree: Count
    not_compared: Annotated[Count, "graphs of which no call was compared"]
    seconds: Annotated[Seconds, "what comparing took in the program, the search for a wrong node included"]
    calls: Annotated[list[CallBesideEager], "the calls that were to be compared"]


def verified_of(recording: Recording) -> Verified | None:
    """The same as documents have it; None where --verify was not asked for."""
    found = verification(recording)
    if found is None:
        return None
    return Verified(
        graphs=len(found.graphs),
        agree=len(found.agreeing),
        disagree=len(found.wrong),
        not_compared=len(found.not_compared),
        seconds=found.seconds,
        calls=[
            CallBesideEager(each.process, each.graph.compile_id, **vars(call))
            for each in found.graphs
            for call in each.calls
        ],
    )
