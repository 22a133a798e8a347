"""What --verify found, over all graphs of a recording."""

from collections.abc import Iterator

from ..model import (
    AGREES,
    DISAGREES,
    NOT_COMPARABLE,
    ComparedValue,
    Graph,
    Process,
    Recording,
    VerifiedCall,
    WrongNode,
)
from ..shared.quick_dataclass import dataclass
from .summary import graphs_recorded
from .words import compile_label, graph_frame, number, place, process_title

NO_CALL = "no finished call of it was recorded"


@dataclass(frozen=True)
class VerifiedGraph:
    """A graph and the calls of it that were to be verified."""

    process: Process
    graph: Graph
    calls: tuple[VerifiedCall, ...]

    @property
    def wrong_call(self) -> VerifiedCall | None:
        """The first call that disagrees."""
        return next((call for call in self.calls if call.outcome == DISAGREES), None)

    @property
    def agrees(self) -> bool:
        """Whether calls were compared and all of them agree."""
        return self.wrong_call is None and any(call.outcome == AGREES for call in self.calls)

    @property
    def why_not_compared(self) -> str | None:
        """Why nothing of it was compared; None where something was."""
        if self.agrees or self.wrong_call is not None:
            return None
        return self.calls[-1].why or "no reason recorded" if self.calls else NO_CALL


@dataclass(frozen=True)
class Verification:
    """All graphs that were compiled, in order; without any, there was none if graphs `are_recorded`."""

    graphs: tuple[VerifiedGraph, ...]
    are_recorded: bool = True

    @property
    def agreeing(self) -> list[VerifiedGraph]:
        """The graphs that agree with eager."""
        return [each for each in self.graphs if each.agrees]

    @property
    def wrong(self) -> list[VerifiedGraph]:
        """The graphs that disagree with eager."""
        return [each for each in self.graphs if each.wrong_call is not None]

    @property
    def not_compared(self) -> list[VerifiedGraph]:
        """The graphs of which nothing could be compared."""
        return [each for each in self.graphs if each.why_not_compared is not None]

    @property
    def is_blind(self) -> bool:
        """Whether nothing was compared, for another reason than that compiled code draws its own numbers."""
        if self.agreeing or self.wrong:
            return False
        calls = [call for each in self.graphs for call in each.calls]
        return not calls or any(call.outcome != NOT_COMPARABLE for call in calls)

    @property
    def seconds(self) -> float:
        """What verifying took, the search for a wrong node included."""
        return sum(call.seconds for each in self.graphs for call in each.calls)


def verification(recording: Recording) -> Verification | None:
    """What was found; None where --verify was not asked for."""
    is_asked = recording.settings.verify is not None
    if not is_asked and not any(process.verified for process in recording.processes):
        return None
    graphs: list[VerifiedGraph] = []
    for process in recording.processes:
        calls: dict[int, list[VerifiedCall]] = {}
        for call in process.verified:
            calls.setdefault(call.graph, []).append(call)
        graphs += (
            VerifiedGraph(process, graph, tuple(calls.get(graph.number, ())))
            for graph in process.graphs
            if graph.is_compiled
        )
    return Verification(tuple(graphs), graphs_recorded(recording))


# What --verify found, in sentences: how many graphs agree with eager, and the first that does not.


def verified_sentence(found: Verification) -> str:
    """How many graphs agree with eager, and how near the nearest was to what is allowed."""
    graphs = len(found.graphs)
    if not graphs:
        why = "no graph was compiled" if found.are_recorded else "graphs were not recorded"
        return f"Nothing was verified: {why}"
    text = f"Graphs that computed what the captured graph computes: {len(found.agreeing)} of {graphs}"
    worst = _worst(found)
    if worst is not None and worst.error is not None:
        text += f"; largest error {worst.error:.2g}{_beside(worst)} where {worst.allowed:.2g} is allowed"
    return text


def audit_sentence(found: Verification | None) -> str:
    """The verdict of --verify=error."""
    if found is None or not found.graphs:
        return "nothing could be compared with eager"
    parts = [
        f"{number(len(graphs), 'graph')} {what}"
        for graphs, what in (
            (found.wrong, "computed something else than eager"),
            (found.agreeing, "computed what the captured graph computes"),
            (found.not_compared, f"could not be compared ({_why_not(found)})"),
        )
        if graphs
    ]
    text = ", ".join(parts)
    return text if found.wrong else f"{text}; the program itself was not compared"


def _why_not(found: Verification) -> str:
    return "; ".join(dict.fromkeys(str(each.why_not_compared) for each in found.not_compared))


def wrong_lines(found: Verification, recording: Recording) -> Iterator[str]:
    """The graphs that disagree: which value, by how much, which node."""
    for each in found.wrong:
        call = each.wrong_call
        assert call is not None
        yield f"disagrees: {graph_text(each, recording)}, call {call.call}, {off_text(call.first_wrong)}"
        if call.node is not None:
            yield f"first wrong node of graph {each.graph.number}: {node_text(call.node)}"
        elif call.node_unknown is not None:
            yield f"wrong node of graph {each.graph.number}: not known: {call.node_unknown}"


def not_compared_lines(found: Verification, recording: Recording) -> Iterator[str]:
    """The graphs of which nothing was compared, or no gradients, and why."""
    for each in found.not_compared:
        yield f"not compared: {graph_text(each, recording)}: {each.why_not_compared}"
    for each in found.agreeing:
        reasons = [call.gradients for call in each.calls if call.gradients not in (None, "compared")]
        if reasons:
            yield f"gradients of {graph_text(each, recording)}: {reasons[0]}"


def _worst(found: Verification) -> ComparedValue | None:
    """The value nearest to its limit, over the graphs that agree."""
    values = [call.worst for each in found.agreeing for call in each.calls if call.worst is not None]
    return max(values, key=_share, default=None)


def _share(value: ComparedValue) -> float:
    return (value.error or 0.0) / value.allowed if value.allowed else 0.0


def graph_text(each: VerifiedGraph, recording: Recording) -> str:
    """Which graph it is."""
    graph = each.graph
    where = f"{graph_frame(graph)} at {place(graph.frame_place)}"
    label = compile_label(graph.compile_id)
    return f"graph {graph.number} {label} {where}{process_title(each.process, recording)}"


def off_text(value: ComparedValue | None) -> str:
    """By how much a value is off, and how much is allowed."""
    if value is None:
        return "a value that was not recorded"
    if value.error is None or value.allowed is None:
        return f"{value.name}: {value.detail}"
    off = f"off by {value.error:.2g} from {value.against}{_beside(value)}"
    return f"{value.name}: {off}, {value.allowed:.2g} allowed"


def _beside(value: ComparedValue) -> str:
    """How large the values are that an error is to be seen beside."""
    return "" if value.size is None else f" (values up to {value.size:.2g})"


def node_text(node: WrongNode) -> str:
    """Which node, where, and by how much it is off."""
    where = "" if node.place is None else f" at {place(node.place)}"
    value = node.value
    off = (
        "" if value is None else f", {value.detail}" if value.error is None else f", off by {value.error:.2g}"
    )
    return f"{node.name} = {node.target}{where}{off}"
