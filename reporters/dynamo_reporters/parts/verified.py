"""What --verify found: how many graphs agree with eager, and the first that does not."""

from collections.abc import Iterator
from typing import Any

from dynamo_core.analysis.verification import verification
from dynamo_core.analysis.verification_sentences import not_compared_lines, verified_sentence, wrong_lines
from dynamo_core.analysis.words import seconds
from dynamo_core.model import ComparedValue, Recording

from ..page.blocks import Block, Bullets, Heading, Paragraph
from ..report import id_value, place_value, process_value


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


def verified_value(recording: Recording) -> dict[str, Any] | None:
    """The same as JSON values; null where --verify was not asked for."""
    found = verification(recording)
    if found is None:
        return None
    return {
        "graphs": len(found.graphs),
        "agree": len(found.agreeing),
        "disagree": len(found.wrong),
        "not_compared": len(found.not_compared),
        "seconds": found.seconds,
        "calls": [
            {
                "process": process_value(each.process),
                "compile_id": id_value(each.graph.compile_id),
                "graph": call.graph,
                "call": call.call,
                "outcome": call.outcome,
                "why": call.why,
                "compared": call.compared,
                "against_float64": call.against_float64,
                "gradients": call.gradients,
                "worst": _compared_value(call.worst),
                "first_wrong": _compared_value(call.first_wrong),
                "node": None
                if call.node is None
                else {
                    "name": call.node.name,
                    "target": call.node.target,
                    "place": place_value(call.node.place),
                    "value": _compared_value(call.node.value),
                },
                "node_unknown": call.node_unknown,
                "seconds": call.seconds,
            }
            for each in found.graphs
            for call in each.calls
        ],
    }


def _compared_value(value: ComparedValue | None) -> dict[str, Any] | None:
    return None if value is None else dict(vars(value))
