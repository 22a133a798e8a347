"""Which backend of those that were named took each graph, and why the others did not."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Annotated, Any

from dynamo_core.analysis.verdict import short_backend, untaken_sentence
from dynamo_core.analysis.verification import (
    Verification,
    not_compared_lines,
    program_lines,
    program_sentence,
    verification,
    verified_sentence,
    wrong_lines,
)
from dynamo_core.analysis.words import (
    count_text,
    first_line,
    number,
    process_title,
    seconds,
    seconds_in_calls,
)
from dynamo_core.model import (
    AssignedBackend,
    CompileId,
    Graph,
    Process,
    Recording,
    VerifiedCall,
    VerifiedProgramCall,
)
from dynamo_core.shared.declared import INLINE, Count, Seconds
from dynamo_core.shared.quick_dataclass import dataclass

from ..page.blocks import Block, Bullets, Heading, Paragraph, rest, table

_SHOWN = 5
_NONE = "none (eager)"


def backend_text(graph: Graph) -> str:
    """The backend of a graph: the one that took it, and the one that this chose, if it chooses."""
    assigned = graph.assigned_backend
    if assigned is None:
        return graph.backend or "not recorded"
    if assigned.by is None:
        return _NONE if graph.is_compiled else "none"
    return f"{short_backend(assigned.by)}: {assigned.using}" if assigned.using else short_backend(assigned.by)


def declined_lines(graph: Graph) -> list[str]:
    """What each backend that did not take the graph said."""
    declined = () if graph.assigned_backend is None else graph.assigned_backend.declined
    return [f"{short_backend(backend)} declined: {first_line(reason)}" for backend, reason in declined]


def backends_section(recording: Recording) -> Iterator[Block]:
    """How many graphs each backend took, and who declined which and why; nothing where torch chose alone."""
    chosen = _chosen(recording)
    if not chosen:
        return
    yield Heading("Backends")
    yield table(
        "backend|graphs>|calls>|time in graphs (host)>",
        [
            [
                name,
                str(len(graphs)),
                count_text(_sum([graph.calls for graph in graphs])),
                seconds_in_calls(
                    _sum([graph.seconds_with_backward for graph in graphs]),
                    *(times for graph in graphs for times in (graph.times, graph.backward)),
                ),
            ]
            for name, graphs in _by_backend(chosen).items()
        ],
    )
    untaken = untaken_lines(recording)
    yield Bullets(untaken, "warning")
    declines = [*map(_never_asked, _unasked(chosen)), *_declines(recording, chosen)]
    if declines:
        yield Bullets(declines[:_SHOWN])
        yield from rest(len(declines) - _SHOWN, "reason", "; `dynamo graphs`")


def taken_line(recording: Recording) -> str | None:
    """`graphs by backend: ofi 2; inductor 1; eager 0`; None where no graph had a choice."""
    chosen = _chosen(recording)
    assigned = [graph.assigned_backend for graph, _ in chosen if graph.assigned_backend is not None]
    without = _without_graph(chosen)
    if not any(each.by for each in assigned) or not (without or any(map(_had_choice, assigned))):
        return None
    counts = [f"{name} {len(graphs):,}" for name, graphs in _by_backend(chosen).items()]
    counts += [f"{name} 0" for name in without]
    return f"graphs by backend: {'; '.join(counts)}"


def untaken_lines(recording: Recording) -> list[str]:
    """A line for each graph that no backend took, as far as there is room."""
    untaken = [(graph, process) for graph, process in _chosen(recording) if graph.is_untaken]
    lines = [untaken_sentence(graph, process, recording) for graph, process in untaken[:_SHOWN]]
    rest = len(untaken) - _SHOWN
    return [*lines, f"… and {number(rest, 'more graph')} that no backend took"] if rest > 0 else lines


def _chosen(recording: Recording) -> list[tuple[Graph, Process]]:
    return [
        (graph, process)
        for process in recording.processes
        for graph in process.graphs
        if graph.assigned_backend is not None
    ]


def _had_choice(assigned: AssignedBackend) -> bool:
    return bool(assigned.declined or assigned.using)


def _by_backend(chosen: Sequence[tuple[Graph, Process]]) -> dict[str, list[Graph]]:
    """The backend with the most graphs first."""
    found: dict[str, list[Graph]] = {}
    for graph, _ in chosen:
        found.setdefault(backend_text(graph), []).append(graph)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _without_graph(chosen: Sequence[tuple[Graph, Process]]) -> list[str]:
    """The named backends that took no graph; none of them where no graph was taken, which other lines say."""
    takers, declined = _asked(chosen)
    if not takers:
        return []
    return [short_backend(name) for name in declined if name not in takers] + _unasked(chosen)


def _unasked(chosen: Sequence[tuple[Graph, Process]]) -> list[str]:
    """The named backends that no graph came to. `graph.backend` has their names without options."""
    takers, declined = _asked(chosen)
    named = dict.fromkeys(name for graph, _ in chosen for name in (graph.backend or "").split(",") if name)
    return [
        short_backend(name)
        for name in named
        if not any(other == name or other.startswith((f"{name}:", f"{name}[")) for other in takers | declined)
    ]


def _asked(chosen: Sequence[tuple[Graph, Process]]) -> tuple[dict[str, None], dict[str, None]]:
    """The backends that took a graph, and those that declined one, as they are recorded, in order."""
    assigned = [graph.assigned_backend for graph, _ in chosen if graph.assigned_backend is not None]
    takers = dict.fromkeys(each.by for each in assigned if each.by is not None)
    return takers, dict.fromkeys(name.backend for each in assigned for name in each.declined)


def _never_asked(backend: str) -> str:
    return f"{backend} was never asked: the backends before it took every graph"


def _declines(recording: Recording, chosen: Sequence[tuple[Graph, Process]]) -> list[str]:
    """A line for each backend and reason, the most frequent first. Graphs that none took are told apart."""
    graphs: dict[tuple[str, str], list[str]] = {}
    for graph, process in chosen:
        if graph.assigned_backend is not None and graph.assigned_backend.by is not None:
            for backend, reason in graph.assigned_backend.declined:
                key = (short_backend(backend), first_line(reason))
                graphs.setdefault(key, []).append(f"{graph.number}{process_title(process, recording)}")
    lines = []
    for (backend, reason), which in sorted(graphs.items(), key=lambda item: -len(item[1])):
        text = f"graph {which[0]}" if len(which) == 1 else number(len(which), "graph")
        lines.append(f"{backend} declined {text}: {reason}")
    return lines


def _sum(values: Sequence[Any]) -> Any:
    return None if any(value is None for value in values) else sum(values)


# What --verify found: how many graphs agree with eager, and the first that does not.


def verified_blocks(recording: Recording) -> Iterator[Block]:
    """The section of `dynamo explain`."""
    found = verification(recording)
    if found is None:
        return
    yield Heading("Verified")
    took = f" Comparing took {seconds(found.seconds)}." if found.graphs else ""
    yield Paragraph(f"{program_sentence(found)}. {verified_sentence(found)}.{took}")
    notes = _notes(found, recording)
    yield Bullets(notes)


def verified_lines(recording: Recording) -> list[str]:
    """The lines at the end of a run."""
    found = verification(recording)
    if found is None:
        return []
    notes = _notes(found, recording)
    return [f"{program_sentence(found)}.", f"{verified_sentence(found)}.", *(f"  {note}" for note in notes)]


def _notes(found: Verification, recording: Recording) -> list[str]:
    return [*program_lines(found), *wrong_lines(found, recording), *not_compared_lines(found, recording)]


@dataclass(frozen=True)
class CallBesideEager:
    """A call of a compiled graph beside eager."""

    process: Process
    compile_id: CompileId | None
    verified: VerifiedCall = field(metadata=INLINE)


@dataclass(frozen=True)
class CallBesidePython:
    """A call of what the program compiled, beside plain Python from the same state."""

    process: Process
    verified: VerifiedProgramCall = field(metadata=INLINE)


@dataclass(frozen=True)
class Verified:
    """What --verify found."""

    graphs: Annotated[Count, "graphs that were compiled"]
    agree: Count
    disagree: Count
    not_compared: Annotated[Count, "graphs of which no call was compared"]
    seconds: Annotated[Seconds, "what comparing took in the program, the search for a wrong node included"]
    calls: Annotated[list[CallBesideEager], "the calls of graphs that were to be compared"]
    program_calls: Annotated[
        list[CallBesidePython], "the calls of what the program compiled, compared with plain Python"
    ]


def verified_of(recording: Recording) -> Verified | None:
    """What documents say of --verify; None where it was not requested."""
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
            CallBesideEager(each.process, each.graph.compile_id, call)
            for each in found.graphs
            for call in each.calls
        ],
        program_calls=[CallBesidePython(each.process, each.call) for each in found.program_calls],
    )
