"""Graphs that came, went and changed: each change once, however many graphs have it, and what explains it."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, replace

from ..analysis.words import stable_text
from ..findings import Finding, Kind
from ..model import Graph, Recording, function_of
from .difference import GraphChange, GraphChangeKind, GraphSide
from .findings import MatchedFindings
from .graph_pairs import OneGraph, OwnLines, Pair, Unlike, paired
from .node_changes import (
    Codes,
    CompiledCode,
    SourceLines,
    aligned,
    argument_change,
    kernel_change,
    op_changes,
    saved_change,
    tensor_changes,
)

# Kinds that change how a whole function is compiled.
_OF_A_FUNCTION: tuple[Kind, ...] = (
    "graph break",
    "fell back to eager",
    "compiler error",
    "recompile limit",
    "recompile",
    "compiled anew",
)


def graph_changes(
    unlike: Unlike, before: Recording, after: Recording, findings: MatchedFindings, own_lines: OwnLines
) -> tuple[GraphChange, ...]:
    """All changes of graphs; those that are alike are one."""
    lines = SourceLines(before), SourceLines(after)
    causes = _Causes(before, after, findings)
    codes = CompiledCode(before), CompiledCode(after)
    pairs = [*paired(unlike.before, unlike.after), *_compiled_otherwise(unlike.same, codes)]
    alike: dict[Hashable, GraphChange] = {}
    for pair in pairs:
        change = _change(pair, lines, codes)
        if own_lines.are_the_same(pair) and all(op.text or op.place is None for op in change.ops):
            change = replace(change, is_of_torch=True)
        if change.kind != "changed":
            change = replace(change, because=causes.of(pair))
        key = _what_is_alike(change)
        known = alike.get(key)
        alike[key] = change if known is None else replace(known, times=known.times + 1)
    return tuple(alike.values())


def _compiled_otherwise(same: Sequence[tuple[OneGraph, OneGraph]], codes: Codes) -> Iterator[Pair]:
    """Graphs that compute the same, of which something else was made."""
    for before, after in same:
        if (
            any(_settings(before.graph, after.graph))
            or kernel_change(before, after, codes)
            or saved_change(before, after, codes)
        ):
            yield (before,), (after,)


def _taken_by(graph: Graph) -> str | None:
    """The backend that compiled a graph, None where that was not recorded."""
    if graph.assigned_backend is None:
        return None if graph.backend is None else stable_text(graph.backend)
    return stable_text(graph.assigned_backend.using or graph.assigned_backend.by or "none")


def _is_by_another(was: Graph, now: Graph) -> bool:
    backends = _taken_by(was), _taken_by(now)
    return None not in backends and backends[0] != backends[1]


def _what_is_alike(change: GraphChange) -> Hashable:
    ops = [tuple(side.ops for side in sides) for sides in (change.before, change.after)]
    of_ops = tuple((op.op, op.count, op.place) for op in change.ops)
    of_tensors = tuple((each.what, each.before, each.after) for each in change.tensors)
    # A change that is not told by its ops and tensors is told by the sizes of the graphs.
    is_told = of_ops or of_tensors or change.settings or change.kernels or change.saved
    sizes = () if is_told else tuple(ops)
    of_argument = change.argument and (
        change.argument.before,
        change.argument.after,
        change.argument.after_place,
    )
    return (
        change.kind,
        change.function,
        of_ops,
        of_tensors,
        of_argument,
        change.settings,
        change.is_of_torch,
        change.kernels,
        change.saved and (change.saved.before, change.saved.after),
        sizes,
        change.because,
    )


def _change(pair: Pair, lines: tuple[SourceLines, SourceLines], codes: Codes) -> GraphChange:
    before, after = pair
    shown = (after or before)[0]
    change = GraphChange(
        _kind(pair),
        shown.graph.method or shown.function,
        1,
        tuple(map(_side, before)),
        tuple(map(_side, after)),
    )
    if change.kind != "changed":
        return change
    was, now = before[0].graph, after[0].graph
    change = replace(
        change,
        settings=tuple(_settings(was, now)),
        kernels=kernel_change(before[0], after[0], codes),
        saved=saved_change(before[0], after[0], codes),
    )
    if was.nodes is None or now.nodes is None:
        return change
    pieces = aligned(was.nodes, now.nodes)
    change = replace(
        change,
        ops=op_changes(was.nodes, now.nodes, pieces, lines),
        tensors=tensor_changes(was.nodes, now.nodes, pieces, lines),
    )
    if not change.ops and not change.tensors:
        change = replace(change, argument=argument_change(was.nodes, now.nodes, lines[1]))
    return change


def _kind(pair: Pair) -> GraphChangeKind:
    before, after = map(len, pair)
    if not before or not after:
        return "came" if after else "went"
    return "changed" if before == after else "split" if after > before else "joined"


def _side(each: OneGraph) -> GraphSide:
    graph = each.graph
    compile_id = None if graph.compile_id is None else str(graph.compile_id)
    name = graph.method or graph.frame_name
    return GraphSide(graph.number, each.process.stream.name, compile_id, name, graph.frame_place, graph.ops)


def _settings(was: Graph, now: Graph) -> Iterator[str]:
    """Modes of torch, the backend and whether it trains, where they differ."""
    if _is_by_another(was, now):
        yield f"backend {_taken_by(was)} → {_taken_by(now)}"
    if was.trains is not None and now.trains is not None and was.trains != now.trains:
        yield "gradients can be asked for" if now.trains else "no gradients can be asked for any more"
    if was.modes is None or now.modes is None:
        return
    for name, value in asdict(was.modes).items():
        if value != getattr(now.modes, name):
            yield f"{name} {value} → {getattr(now.modes, name)}"


class _Causes:
    """Which finding explains that graphs came, went, were cut or joined."""

    def __init__(self, before: Recording, after: Recording, findings: MatchedFindings) -> None:
        self._came = [*findings.came, *(change.after for change in findings.changed)]
        self._went = [*findings.went, *(change.before for change in findings.changed)]
        self._of_functions = [
            finding for finding in (*findings.came, *findings.went) if finding.kind in _OF_A_FUNCTION
        ]
        self._tried = _functions_tried(before) & _functions_tried(after)

    def of(self, pair: Pair) -> str | None:
        """The one that was met in these compiles, else in this function.

        What is in a function that only one side compiled needs no finding to explain it.
        """
        before, after = pair
        if not {function_of(each.graph.frame_name) for each in (*before, *after)} & self._tried:
            return None
        for graphs, findings in ((after, self._came), (before, self._went)):
            for finding in findings:
                if any(_is_met_in(finding, each) for each in graphs):
                    return finding.identity
        functions = {each.function for each in (*before, *after)}
        for finding in self._of_functions:
            if function_of(finding.function) in functions:
                return finding.identity
        return None


def _functions_tried(recording: Recording) -> set[str]:
    return {
        function_of(name)
        for process in recording.processes
        for name in (*(g.frame_name for g in process.graphs), *(f.name for f in process.frames))
    }


def _is_met_in(finding: Finding, each: OneGraph) -> bool:
    if each.process.stream.name not in finding.processes:
        return False
    return str(each.graph.compile_id) in finding.evidence.compile_ids
