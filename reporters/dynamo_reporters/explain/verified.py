"""What --verify found: how many graphs agree with eager, and the first that does not."""

from collections.abc import Iterator
from typing import Any

from dynamo_core.model import ComparedValue, Recording, WrongNode
from dynamo_core.verification import Verification, VerifiedGraph, verification

from ..page.blocks import Block, Bullets, Heading, Paragraph
from ..report import id_value, place_value, process_title, process_value
from ..text import compile_label, frame_name, number, place, seconds


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


def verified_sentence(found: Verification) -> str:
    """How many graphs agree with eager, and how near the nearest was to what is allowed."""
    graphs = len(found.graphs)
    if not graphs:
        return "Nothing was verified: no graph was compiled"
    text = f"Graphs that agree with eager: {len(found.agreeing)} of {graphs}"
    worst = _worst(found)
    if worst is not None and worst.error is not None:
        text += f"; largest error {worst.error:.2g} where {worst.allowed:.2g} is allowed"
    return text


def audit_sentence(found: Verification | None) -> str:
    """The verdict of --verify=error."""
    if found is None or not (found.agreeing or found.wrong):
        return "nothing could be compared with eager"
    parts = [
        f"{number(len(graphs), 'graph')} {what}"
        for graphs, what in (
            (found.wrong, "computed something else than eager"),
            (found.agreeing, "computed what eager does"),
            (found.not_compared, "could not be compared"),
        )
        if graphs
    ]
    return ", ".join(parts)


def wrong_lines(found: Verification, recording: Recording) -> Iterator[str]:
    """The graphs that disagree: which value, by how much, which node."""
    for each in found.wrong:
        call = each.wrong_call
        assert call is not None
        yield f"disagrees: {_graph(each, recording)}, call {call.call}, {_off(call.first_wrong)}"
        if call.node is not None:
            yield f"first wrong node of graph {each.graph.number}: {_node(call.node)}"
        elif call.node_unknown is not None:
            yield f"wrong node of graph {each.graph.number}: not known: {call.node_unknown}"


def not_compared_lines(found: Verification, recording: Recording) -> Iterator[str]:
    """The graphs of which nothing was compared, or no gradients, and why."""
    for each in found.not_compared:
        yield f"not compared: {_graph(each, recording)}: {each.why_not_compared}"
    for each in found.agreeing:
        reasons = [call.gradients for call in each.calls if call.gradients not in (None, "compared")]
        if reasons:
            yield f"gradients of {_graph(each, recording)}: {reasons[0]}"


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


def _worst(found: Verification) -> ComparedValue | None:
    """Of the graphs that agree, the value that is nearest to its limit."""
    values = [call.worst for each in found.agreeing for call in each.calls if call.worst is not None]
    return max(values, key=_share, default=None)


def _share(value: ComparedValue) -> float:
    return (value.error or 0.0) / value.allowed if value.allowed else 0.0


def _graph(each: VerifiedGraph, recording: Recording) -> str:
    graph = each.graph
    where = f"{frame_name(graph.frame_name)} at {place(graph.frame_place)}"
    label = compile_label(graph.compile_id)
    return f"graph {graph.number} {label} {where}{process_title(each.process, recording)}"


def _off(value: ComparedValue | None) -> str:
    if value is None:
        return "a value that was not recorded"
    if value.error is None or value.allowed is None:
        return f"{value.name}: {value.detail}"
    return f"{value.name}: off by {value.error:.2g} from {value.against}, {value.allowed:.2g} allowed"


def _node(node: WrongNode) -> str:
    where = "" if node.place is None else f" at {place(node.place)}"
    value = node.value
    off = (
        "" if value is None else f", {value.detail}" if value.error is None else f", off by {value.error:.2g}"
    )
    return f"{node.name} = {node.target}{where}{off}"
