"""Graphs that were added, removed or changed: equal changes of several graphs once, with their cause."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, replace

from ..analysis.words import stable_text
from ..findings import Finding
from ..findings.kinds import SPECS
from ..model import Graph, Recording, function_of
from .difference import GraphChange, GraphChangeKind, GraphSide
from .findings import MatchedFindings
from .graph_pairs import ComparedGraph, FunctionLines, Pair, UnmatchedGraphs, pair_unmatched
from .node_changes import (
    Codes,
    CompiledCode,
    SourceLines,
    align,
    argument_change,
    kernel_change,
    op_changes,
    saved_change,
    tensor_changes,
)


def graph_changes(
    graphs: UnmatchedGraphs,
    before: Recording,
    after: Recording,
    findings: MatchedFindings,
    function_lines: FunctionLines,
) -> tuple[GraphChange, ...]:
    """All changes of graphs; equal changes are merged into one."""
    lines = SourceLines(before), SourceLines(after)
    causes = _Causes(before, after, findings)
    codes = CompiledCode(before), CompiledCode(after)
    pairs = [
        *pair_unmatched(graphs.before, graphs.after),
        *_changed_compilations(graphs.same, codes),
    ]
    merged: dict[Hashable, GraphChange] = {}
    for pair in pairs:
        change = _change(pair, lines, codes)
        if function_lines.are_unchanged(pair) and all(op.text or op.place is None for op in change.ops):
            change = replace(change, is_of_torch=True)
        if change.kind != "changed":
            change = replace(change, because=causes.of(pair))
        key = _merge_key(change)
        known = merged.get(key)
        merged[key] = change if known is None else replace(known, times=known.times + 1)
    return tuple(merged.values())


def _changed_compilations(
    same: Sequence[tuple[ComparedGraph, ComparedGraph]], codes: Codes
) -> Iterator[Pair]:
    """Pairs of graphs that compute the same and were compiled differently."""
    for before, after in same:
        if (
            any(_settings(before.graph, after.graph))
            or kernel_change(before, after, codes)
            or saved_change(before, after, codes)
        ):
            yield (before,), (after,)


def _backend_of(graph: Graph) -> str | None:
    """The backend that compiled a graph; None where it was not recorded."""
    if graph.assigned_backend is None:
        return None if graph.backend is None else stable_text(graph.backend)
    return stable_text(graph.assigned_backend.using or graph.assigned_backend.by or "none")


def _has_other_backend(was: Graph, now: Graph) -> bool:
    backends = _backend_of(was), _backend_of(now)
    return None not in backends and backends[0] != backends[1]


def _merge_key(change: GraphChange) -> Hashable:
    """What must be equal for two changes to be merged."""
    ops = [tuple(side.ops for side in sides) for sides in (change.before, change.after)]
    of_ops = tuple((op.op, op.count, op.place) for op in change.ops)
    of_tensors = tuple((each.what, each.before, each.after) for each in change.tensors)
    # Without any details, changes are distinguished by the sizes of their graphs.
    has_details = of_ops or of_tensors or change.settings or change.kernels or change.saved
    sizes = () if has_details else tuple(ops)
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
    pieces = align(was.nodes, now.nodes)
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


def _side(compared: ComparedGraph) -> GraphSide:
    graph = compared.graph
    compile_id = None if graph.compile_id is None else str(graph.compile_id)
    name = graph.method or graph.frame_name
    stream = compared.process.stream.name
    return GraphSide(graph.number, stream, compile_id, name, graph.frame_place, graph.ops)


def _settings(was: Graph, now: Graph) -> Iterator[str]:
    """Modes of torch, the backend and whether it trains, where they differ."""
    if _has_other_backend(was, now):
        yield f"backend {_backend_of(was)} → {_backend_of(now)}"
    if was.trains is not None and now.trains is not None and was.trains != now.trains:
        yield "gradients can be asked for" if now.trains else "no gradients can be asked for any more"
    if was.modes is None or now.modes is None:
        return
    for name, value in asdict(was.modes).items():
        if value != getattr(now.modes, name):
            yield f"{name} {value} → {getattr(now.modes, name)}"


class _Causes:
    """Which finding explains that graphs were added, removed, split or merged."""

    def __init__(self, before: Recording, after: Recording, findings: MatchedFindings) -> None:
        self._added = [*findings.added, *(change.after for change in findings.changed)]
        self._removed = [*findings.removed, *(change.before for change in findings.changed)]
        self._of_functions = [
            finding
            for finding in (*findings.added, *findings.removed)
            if SPECS[finding.kind].changes_function
        ]
        self._compiled_in_both = _functions_tried(before) & _functions_tried(after)

    def of(self, pair: Pair) -> str | None:
        """The identity of the finding that was met in these compiles, else in this function.

        A graph of a function that only one side compiled needs no finding to explain it.
        """
        before, after = pair
        if not {function_of(each.graph.frame_name) for each in (*before, *after)} & self._compiled_in_both:
            return None
        for graphs, findings in ((after, self._added), (before, self._removed)):
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


def _is_met_in(finding: Finding, compared: ComparedGraph) -> bool:
    if compared.process.stream.name not in finding.processes:
        return False
    return str(compared.graph.compile_id) in finding.evidence.compile_ids
