"""What --verify found, over all graphs of a recording."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..model import (
    AGREES,
    DISAGREES,
    NOT_COMPARABLE,
    ComparedValue,
    Graph,
    Process,
    Recording,
    VerifiedCall,
    VerifiedProgramCall,
    WrongNode,
)
from ..shared.names import FIRST_CALLS, MORE_EXACT, ROUNDED_OTHERWISE
from ..shared.quick_dataclass import dataclass
from .summary import graphs_recorded
from .words import compile_label, graph_frame, number, place, process_title

_FURTHER = "of a function the first eight calls are compared, then the 16th, the 32nd and so on"
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
class ProgramCall:
    """A call of what was compiled that was to be compared with plain Python."""

    process: Process
    call: VerifiedProgramCall

    @property
    def name(self) -> str:
        """The function, and where the program compiles it; or that its frame was captured."""
        how = "captured" if self.process.is_captured_now else "compiled"
        return f"{self.call.name}, {how} at {place(self.call.compiled_at)}"

    @property
    def text(self) -> str:
        """Which call of which function it is."""
        return f"call {self.call.call} of {self.name}"


@dataclass(frozen=True)
class Verification:
    """All graphs that were compiled, in order; without any, there was none if graphs `are_recorded`.

    `program_calls` are those of the program that were to be compared, in order; of a program that
    `is_captured`, since it compiles nothing itself, those whose frames were compiled.
    """

    graphs: tuple[VerifiedGraph, ...]
    are_recorded: bool = True
    program_calls: tuple[ProgramCall, ...] = ()
    is_captured: bool = False

    @property
    def agreeing_calls(self) -> list[ProgramCall]:
        """The calls of the program that agree with plain Python."""
        return [each for each in self.program_calls if each.call.outcome == AGREES]

    @property
    def wrong_calls(self) -> list[ProgramCall]:
        """The calls of the program that disagree with plain Python."""
        return [each for each in self.program_calls if each.call.outcome == DISAGREES]

    @property
    def calls_not_compared(self) -> list[ProgramCall]:
        """The calls of the program that could not be compared."""
        return [each for each in self.program_calls if each.call.outcome not in (AGREES, DISAGREES)]

    @property
    def has_further_calls(self) -> bool:
        """Whether the program made more calls than were to be compared, by those of its graphs."""
        to_be_compared = Counter(id(each.process) for each in self.program_calls)
        return any(
            (each.graph.calls or 0) > max(FIRST_CALLS, to_be_compared[id(each.process)])
            for each in self.graphs
            if to_be_compared[id(each.process)]
        )

    @property
    def has_wrong(self) -> bool:
        """Whether anything disagrees."""
        return bool(self.wrong or self.wrong_calls)

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
        if self.agreeing or self.agreeing_calls or self.has_wrong:
            return False
        calls = [call for each in self.graphs for call in each.calls]
        return not calls or any(call.outcome != NOT_COMPARABLE for call in calls)

    @property
    def seconds(self) -> float:
        """What verifying took, the search for what is wrong included."""
        of_graphs = sum(call.seconds for each in self.graphs for call in each.calls)
        return of_graphs + sum(each.call.seconds for each in self.program_calls)


def verification(recording: Recording) -> Verification | None:
    """What was found; None where --verify was not asked for."""
    if recording.settings.verify is None and not any(
        process.interventions.verified or process.interventions.verified_program_calls
        for process in recording.processes
    ):
        return None
    graphs: list[VerifiedGraph] = []
    for process in recording.processes:
        of_graph: dict[int, list[VerifiedCall]] = {}
        for call in process.interventions.verified:
            of_graph.setdefault(call.graph, []).append(call)
        graphs += (
            VerifiedGraph(process, graph, tuple(of_graph.get(graph.number, ())))
            for graph in process.graphs
            if graph.is_compiled
        )
    calls = [
        ProgramCall(process, _without_stale(call, process, graphs))
        for process in recording.processes
        for call in process.interventions.verified_program_calls
    ]
    is_captured = any(process.is_captured_now for process in recording.processes)
    found = Verification(tuple(graphs), graphs_recorded(recording), tuple(calls), is_captured)
    of_a_backend = {id(each) for each in found.wrong_calls if wrong_structure(each.process, found, each)}
    known = (_without_place(each) if id(each) in of_a_backend else each for each in calls)
    return replace(found, program_calls=tuple(known))


def _without_place(each: ProgramCall) -> ProgramCall:
    """A call that is wrong for what a backend did to the whole graph: no line and no operation is."""
    return replace(each, call=replace(each.call, wrong_place=None, operation=None))


def _without_stale(
    call: VerifiedProgramCall, process: Process, graphs: Sequence[VerifiedGraph]
) -> VerifiedProgramCall:
    """The call; no guard is missing where a graph of the function itself is wrong in its first call."""
    is_explained = call.stage == "guards" and any(
        each.process is process
        and each.wrong_call
        and each.wrong_call.call == 1
        and each.graph.frame_place == call.function_place
        for each in graphs
    )
    return replace(call, stage=None) if is_explained else call


# What --verify found, in sentences: how many graphs agree with eager, and the first that does not.


def verified_sentence(found: Verification) -> str:
    """How many graphs agree with eager, and how near the nearest was to what is allowed."""
    graphs = len(found.graphs)
    if not graphs:
        why = "no graph was compiled" if found.are_recorded else "graphs were not recorded"
        return f"Nothing was verified: {why}"
    if not (found.agreeing or found.wrong):
        return f"Graphs that could be compared with what was captured: 0 of {graphs}"
    text = f"Graphs that computed what the captured graph computes: {len(found.agreeing)} of {graphs}"
    worst = _worst(found)
    if worst is not None and worst.error is not None:
        text += f"; largest error {worst.error:.2g}{_beside(worst)} where {worst.allowed:.2g} is allowed"
    return text


def audit_sentence(found: Verification | None) -> str:
    """The verdict of --verify=error."""
    if found is None or not (found.graphs or found.program_calls):
        return "nothing could be compared with eager"
    parts = [
        f"{number(len(which), what)} {outcome}"
        for which, what, outcome in (
            (found.wrong_calls, "call", "gave something else than plain Python"),
            (found.wrong, "graph", "computed something else than eager"),
            (found.agreeing_calls, "call", f"gave what plain Python gives{_of_what_was_compared(found)}"),
            (found.agreeing, "graph", "computed what the captured graph computes"),
            (found.not_compared, "graph", f"could not be compared ({_why_not(found)})"),
        )
        if which
    ]
    text = ", ".join(parts)
    if found.has_wrong or found.agreeing_calls:
        return text
    return f"{text}; {_PROGRAM_NOT_COMPARED}{_why_no_call(found)}"


_PROGRAM_NOT_COMPARED = "the program itself was not compared"


def _reasons(found: Verification) -> str:
    return "; ".join(
        dict.fromkeys(each.call.why or "no reason recorded" for each in found.calls_not_compared)
    )


def _why_no_call(found: Verification) -> str:
    reasons = _reasons(found)
    if not reasons and found.is_captured:
        return " (no captured frame could be)"
    return f" ({reasons})" if reasons else ""


def program_sentence(found: Verification) -> str:
    """How many calls of the program were compared with plain Python, and what came of it."""
    compared = len(found.agreeing_calls) + len(found.wrong_calls)
    if not compared:
        return f"{_PROGRAM_NOT_COMPARED[0].upper()}{_PROGRAM_NOT_COMPARED[1:]}{_why_no_call(found)}"
    calls = (*found.agreeing_calls, *found.wrong_calls)
    functions = {(id(each.process), each.call.name, each.call.compiled_at) for each in calls}
    text = f"{number(compared, 'call')} of {number(len(functions), 'compiled function')}"
    outcome = f"{len(found.wrong_calls)} wrong" if found.wrong_calls else "all agree"
    if not found.wrong_calls:
        outcome += _in_what_was_compared(found)
    return f"{text} compared with plain Python: {outcome}"


def _in_what_was_compared(found: Verification) -> str:
    return " in what was compared" if any(each.call.left_out for each in found.agreeing_calls) else ""


def _of_what_was_compared(found: Verification) -> str:
    """What was left out of the calls that agree; and why further calls were not compared, where there are."""
    text = _in_what_was_compared(found)
    if found.has_wrong:
        return text
    if found.calls_not_compared:
        return f"{text} ({len(found.calls_not_compared)} more not compared: {_reasons(found)})"
    return f"{text} ({_FURTHER})" if found.has_further_calls else text


def wrong_call_text(call: VerifiedProgramCall) -> str:
    """What a call of the program gave that plain Python does not."""
    off = call.detail or ""
    if call.error is not None:
        off = f"off by {call.error:.2g}" + ("" if call.allowed is None else f", {call.allowed:.2g} allowed")
    return off if call.kind == "exception" else f"{call.path}: {off}"


# Stages of torch's own compiler; the name of any other is a backend's.
_STAGES = ("tracing", "guards", "AOTAutograd", "decompositions", "inductor")


# How a verdict on what the backend did to the whole graph begins (capture/interventions/backend_faults.py).
_BACKEND_DID = ("the backend returned ", "the backend wrote ")


def structure_text(call: VerifiedCall | None) -> str | None:
    """What the backend did to the whole graph, as to give another structure; None where it is not known."""
    value = None if call is None else call.first_wrong
    detail = "" if value is None else value.detail or ""
    return detail if detail.startswith(_BACKEND_DID) else None


def wrong_structure(process: Process, found: Verification, of: ProgramCall | None = None) -> str | None:
    """What the backend of a process did to a whole graph: no operation is wrong then.

    It is a graph of the function that a wrong call is `of`, or of one that is not called by itself.
    """
    wrong = [graph for graph in found.wrong if graph.process is process]
    if of is not None:
        places = {each.call.function_place for each in found.program_calls}
        own = [graph for graph in wrong if graph.graph.frame_place == of.call.function_place]
        wrong = own or [graph for graph in wrong if graph.graph.frame_place not in places]
    for graph in wrong:
        text = structure_text(graph.wrong_call)
        if text is not None:
            backend = graph.graph.backend
            return text if backend is None else text.replace("backend", f"backend `{backend}`", 1)
    return None


def wrong_backend(call: VerifiedProgramCall) -> str | None:
    """The backend of the program's own, or of a package, from which on it is wrong."""
    return None if call.stage in _STAGES else call.stage


def since_text(call: VerifiedProgramCall, structure: str | None = None) -> str:
    """The stage of the compiler that it is wrong from, and the line, or why that is not known."""
    if structure is not None:
        return structure
    if call.stage == "guards":
        since = "an entry compiled for other values was used again: torch does not guard what changed"
    else:
        backend = wrong_backend(call)
        stage = call.stage if backend is None else f"the backend `{backend}`"
        since = "" if stage is None else f"wrong since {stage}"
    if call.wrong_place is None:
        return "; ".join(filter(None, (since, call.why)))
    operation = "" if call.operation is None else f" ({call.operation})"
    where = f"at {place(call.wrong_place)}{operation}"
    if call.undeclared is not None:  # then no stage of the compiler is at fault
        return f"wrong {where}: it {call.undeclared}"
    return f"{since}, {where}" if since else where


def wrong_call_lines(found: Verification) -> Iterator[str]:
    """Calls of the program that are wrong: what they gave, and since which stage and line."""
    for each in found.wrong_calls:
        call = each.call
        since = since_text(call, wrong_structure(each.process, found, each))
        yield f"wrong: {each.text}: {wrong_call_text(call)}{f'; {since}' if since else ''}"


def program_lines(found: Verification) -> Iterator[str]:
    """Calls of the program that are wrong or more exact than written, and why others were not compared."""
    yield from wrong_call_lines(found)
    rounded = [each for each in found.agreeing_calls if each.call.kind is not None]
    for each in {each.name: each for each in rounded}.values():
        call = each.call
        if call.kind == ROUNDED_OTHERWISE:
            yield (
                f"{ROUNDED_OTHERWISE}: {each.text}: {call.path} differs by {call.error or 0:.2g}, as other "
                "operations, or another order of adding, make it"
            )
            continue
        where = "" if call.wrong_place is None else f", first cast at {place(call.wrong_place)}"
        yield (
            f"{MORE_EXACT}: {each.text}: {call.path} differs by {call.error or 0:.2g}, "
            f"since Inductor leaves out casts that the program writes{where}; "
            "torch._inductor.config.emulate_precision_casts = True keeps them (tried)"
        )
    for reason in dict.fromkeys(each.call.why for each in found.calls_not_compared):
        if reason is not None:
            count = sum(each.call.why == reason for each in found.calls_not_compared)
            yield f"not compared: {number(count, 'call')} of the program: {reason}"
    if found.has_further_calls and not found.has_wrong and found.agreeing_calls:
        yield f"not compared: further calls of the program: {_FURTHER}"
    for left_out in dict.fromkeys(each.call.left_out for each in found.agreeing_calls):
        if left_out is not None:
            count = sum(each.call.left_out == left_out for each in found.agreeing_calls)
            yield f"not compared in {number(count, 'call')} of the program: {left_out}"
    for reason in dict.fromkeys(each.call.gradients for each in found.agreeing_calls):
        if reason not in (None, "compared"):
            yield f"gradients of the program: {reason}"


def _why_not(found: Verification) -> str:
    return "; ".join(dict.fromkeys(str(each.why_not_compared) for each in found.not_compared))


def wrong_lines(found: Verification, recording: Recording) -> Iterator[str]:
    """The graphs that disagree: which value, by how much, which node.

    A node is left out where the first wrong operations of all wrong calls are known, and stand in other
    lines: with all values as outputs, the graph is another one, which may go wrong elsewhere.
    """
    for each in found.wrong:
        call = each.wrong_call
        assert call is not None
        yield f"disagrees: {graph_text(each, recording)}, call {call.call}, {off_text(call.first_wrong)}"
        calls = [known.call for known in found.wrong_calls if known.process is each.process]
        are_known = bool(calls) and all(known.operation and known.wrong_place for known in calls)
        if call.node and are_known and call.node.place not in {known.wrong_place for known in calls}:
            continue
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
