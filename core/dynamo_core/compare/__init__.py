"""`dynamo diff`: what differs between two runs of a program, the cause before its effects.

Pure functions of two recordings, but for `reading.py`, which reads them.
"""

from collections.abc import Sequence
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
from .findings import NamesOfBoth, as_far_as_recorded, match_findings, of_the_compiler
from .graph_changes import graph_changes
from .graph_pairs import OwnLines, Unlike, graphs_of, unlike
from .guard_changes import functions_with_other_guards, guard_changes, guards_wanted
from .verdict import verdict_of, whose_it_is

__all__ = ["CONTENTS", "Difference", "compare", "wanted_as_well", "with_what_was_wanted"]

# What the reader must load of a recording; nodes and guards only of what differs, in a second reading.
CONTENTS = all_findings.CONTENTS | {AOT_PAIRS_FROM_OUR_TEXT, CACHE_KEYS, GENERATED_KERNELS}
# Ops whose nodes are read for each side, so that memory is bounded; of further graphs they are only counted.
_MOST_OPS = 10_000


def compare(before: Recording, after: Recording) -> Difference:
    """What came, what went, and what is there in both and changed."""
    if not before.processes or not after.processes:
        return _not_comparable(before, after)
    found = [of_the_compiler(all_findings.find(each)) for each in (before, after)]
    names = NamesOfBoth(before, after)
    findings = as_far_as_recorded(match_findings(found[0], found[1], names), before, after)
    graphs = _unlike(before, after, names)
    own_lines = OwnLines(before, after)
    changes = graph_changes(graphs, before, after, findings, own_lines)
    guards = guard_changes(before, after, names.renames, own_lines)
    of_torch = own_lines.findings_of_torch([*findings.came, *findings.went])
    counts, unknown = count_changes(before, after, names.renames)
    differing = conditions(before, after)
    took = times(before, after, names.renames, differing)
    compared = Compared(len(graphs.same) + min(len(graphs.before), len(graphs.after)), len(findings.both))
    verdict, sentence = verdict_of(findings, changes, counts, took, compared)
    if own_lines.is_another_torch and verdict != "nothing differs":
        whose = whose_it_is(findings, changes, guards, of_torch)
        sentence = f"{sentence}; {whose}"
    return Difference(
        verdict,
        sentence,
        compared,
        findings.came,
        findings.went,
        findings.changed,
        changes,
        counts,
        guards,
        took,
        differing,
        (*_not_compared(before, after, graphs), *unknown),
        of_torch,
    )


def wanted_as_well(before: Recording, after: Recording) -> tuple[frozenset[str], frozenset[str]]:
    """The contents to read once more of each side: the nodes of graphs that the other has not, and guards."""
    names = NamesOfBoth(before, after)
    graphs = _unlike(before, after, names)
    guards = functions_with_other_guards(before, after, names.renames)
    was, now = (
        guards_wanted(functions)
        | (_within_bound([each.graph for each in side]) if graphs.by_key else frozenset())
        for functions, side in zip(guards, (graphs.before, graphs.after), strict=True)
    )
    return was, now


def with_what_was_wanted(recording: Recording, read_again: Sequence[Process]) -> Recording:
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


def _unlike(before: Recording, after: Recording, names: NamesOfBoth) -> Unlike:
    """Where one side has no record of its graphs, the other's are not taken for graphs that came or went."""
    if not (graphs_recorded(before) and graphs_recorded(after)):
        return unlike([], [])
    return unlike(graphs_of(before, names.renames), graphs_of(after, {}))


def _within_bound(graphs: list[Graph]) -> frozenset[str]:
    wanted: set[str] = set()
    ops = 0
    for graph in graphs:
        if graph.key is not None and ops + (graph.ops or 0) <= _MOST_OPS:
            ops += graph.ops or 0
            wanted.add(nodes_of_graph(graph.key))
    return frozenset(wanted)


def _not_compared(before: Recording, after: Recording, graphs: Unlike) -> list[str]:
    """What one side, or both, cannot say: it is not taken for equal."""
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
