"""`dynamo diff`: what differs between two runs of a program, the cause before its effects.

Pure functions of two recordings; only `earlier.py` and `lock.py` read files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .. import findings as all_findings
from ..analysis.summary import graphs_recorded
from ..model import Graph, Process, Recording
from ..recording.caches import CACHE_KEYS
from ..recording.graphs import nodes_of_graph
from ..recording.kernels import GENERATED_KERNELS
from ..recording.training import AOT_PAIRS_FROM_OUR_TEXT
from .counts import conditions, count_changes, not_recorded, times
from .difference import Compared, Difference
from .findings import match_findings, of_the_compiler, renamed_functions, without_unrecorded
from .graph_changes import graph_changes
from .graph_pairs import FunctionLines, UnmatchedGraphs, graphs_of, match_graphs, torch_versions
from .guard_changes import functions_with_other_guards, guard_changes, guard_contents
from .verdict import torch_version_note, verdict_of

__all__ = ["CONTENTS", "Difference", "add_details", "compare", "details_to_read"]

# What the reader must load of a recording. Nodes and guards are read a second time, only for what differs.
CONTENTS = all_findings.CONTENTS | {AOT_PAIRS_FROM_OUR_TEXT, CACHE_KEYS, GENERATED_KERNELS}
# Nodes are read for this many ops of each side, which bounds memory; ops of further graphs are only counted.
_MOST_OPS = 10_000


def compare(before: Recording, after: Recording) -> Difference:
    """What was added, what was removed, and what is in both runs and changed."""
    if not before.processes or not after.processes:
        return _not_comparable(before, after)
    found = [of_the_compiler(all_findings.find(each)) for each in (before, after)]
    renames = renamed_functions(before, after)
    are_of_one_torch = torch_versions(before) == torch_versions(after)
    matched = match_findings(*found, are_of_one_torch=are_of_one_torch)
    findings = without_unrecorded(matched, before, after)
    graphs = _match(before, after, renames)
    function_lines = FunctionLines(before, after)
    changes = graph_changes(graphs, before, after, findings, function_lines)
    guards = guard_changes(before, after, renames, function_lines)
    of_torch = function_lines.findings_of_torch([*findings.added, *findings.removed])
    counts, unknown = count_changes(before, after, renames)
    differing = conditions(before, after)
    took = times(before, after, renames, differing)
    compared = Compared(len(graphs.same) + min(len(graphs.before), len(graphs.after)), len(findings.both))
    verdict, sentence = verdict_of(findings, changes, counts, took, compared)
    if function_lines.is_another_torch and verdict != "nothing differs":
        note = torch_version_note(findings, changes, guards, of_torch)
        sentence = f"{sentence}; {note}"
    return Difference(
        verdict,
        sentence,
        compared,
        findings.added,
        findings.removed,
        findings.changed,
        changes,
        counts,
        guards,
        took,
        differing,
        (*_not_compared(before, after, graphs), *unknown),
        of_torch,
    )


def details_to_read(before: Recording, after: Recording) -> tuple[frozenset[str], frozenset[str]]:
    """Contents to read in addition for each side: nodes of graphs that the other side lacks, and guards."""
    renames = renamed_functions(before, after)
    graphs = _match(before, after, renames)
    guards = functions_with_other_guards(before, after, renames)
    was, now = (
        guard_contents(functions)
        | (_within_bound([each.graph for each in side]) if graphs.by_key else frozenset())
        for functions, side in zip(guards, (graphs.before, graphs.after), strict=True)
    )
    return was, now


def add_details(recording: Recording, read_again: Sequence[Process]) -> Recording:
    """The recording with the nodes and guards that a second reading of its processes loaded."""
    nodes = {
        (process.stream.name, graph.number): graph.nodes
        for process in read_again
        for graph in process.graphs
        if graph.nodes is not None
    }
    guards = {process.stream.name: process.guard_sets for process in read_again}
    processes = [
        replace(
            process,
            graphs=[
                replace(g, nodes=nodes.get((process.stream.name, g.number), g.nodes)) for g in process.graphs
            ],
            guard_sets=guards.get(process.stream.name, []),
        )
        for process in recording.processes
    ]
    return replace(recording, processes=processes)


def _match(before: Recording, after: Recording, renames: Mapping[str, str]) -> UnmatchedGraphs:
    """Match the graphs, unless one side has no record of them: the other's would seem added or removed."""
    if not (graphs_recorded(before) and graphs_recorded(after)):
        return match_graphs([], [])
    return match_graphs(graphs_of(before, renames), graphs_of(after, {}))


def _within_bound(graphs: list[Graph]) -> frozenset[str]:
    """The contents to ask the reader for, for graphs of at most _MOST_OPS ops in all."""
    wanted: set[str] = set()
    ops = 0
    for graph in graphs:
        if graph.key is not None and ops + (graph.ops or 0) <= _MOST_OPS:
            ops += graph.ops or 0
            wanted.add(nodes_of_graph(graph.key))
    return frozenset(wanted)


def _not_compared(before: Recording, after: Recording, graphs: UnmatchedGraphs) -> list[str]:
    """What one or both sides did not record, in sentences: it is not assumed to be equal."""
    found = []
    if not graphs.by_key:
        found.append(
            "what the graphs compute: not recorded on both sides; compared are functions and numbers of ops"
        )
    elif any(each.graph.nodes is None for each in (*graphs.before, *graphs.after)):
        found.append("the ops of some graphs that differ were not read; only their number is compared")
    for side, recording in (("before", before), ("after", after)):
        if recording.is_partial:
            found.append(f"{side}: the run was cut off, or goes on; what came later is not in it")
        found += [f"{side}: {problem}" for problem in recording.problems]
    return found


def _not_comparable(before: Recording, after: Recording) -> Difference:
    (why,) = not_recorded(
        {"processes that imported torch": (before.processes or None, after.processes or None)}
    )
    nothing = Compared(0, 0)
    sentence = f"Nothing can be compared; {why}"
    return Difference("not comparable", sentence, nothing, (), (), (), (), (), (), (), (), (why,))
