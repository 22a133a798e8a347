"""`dynamo diff`: what differs between two runs of a program, the cause before its effects.

Pure functions of two recordings, but for `reading.py`, which reads them.
"""

from dataclasses import replace

from ..analysis import findings as all_findings
from ..model import Graph, Recording
from ..recording.aot_text import AOT_PAIRS_FROM_OUR_TEXT
from ..recording.graphs import nodes_of_graph
from .conditions import conditions
from .counts import count_changes, not_recorded
from .difference import Compared, Difference
from .findings import NamesOfBoth, match_findings, of_the_compiler
from .graph_changes import graph_changes
from .graph_pairs import Unlike, graphs_of, unlike
from .times import times
from .verdict import verdict_of

__all__ = ["CONTENTS", "Difference", "compare", "nodes_wanted", "with_nodes"]

# What the reader must load of a recording; FX nodes only of the graphs that differ, in a second reading.
CONTENTS = all_findings.CONTENTS | {AOT_PAIRS_FROM_OUR_TEXT}
# Ops whose nodes are read for each side, so that memory is bounded; of further graphs they are only counted.
_MOST_OPS = 10_000


def compare(before: Recording, after: Recording) -> Difference:
    """What came, what went, and what is there in both and changed."""
    if not before.processes or not after.processes:
        return _not_comparable(before, after)
    found = [of_the_compiler(all_findings.find(each)) for each in (before, after)]
    names = NamesOfBoth(before, after)
    findings = match_findings(found[0], found[1], names)
    graphs = _unlike(before, after, names)
    changes = graph_changes(graphs, before, after, findings)
    counts, unknown = count_changes(before, after, names.renames)
    differing = conditions(before, after)
    took = times(before, after, names.renames, differing)
    compared = Compared(len(graphs.same) + min(len(graphs.before), len(graphs.after)), len(findings.both))
    verdict, sentence = verdict_of(findings, changes, counts, took, compared)
    return Difference(
        verdict,
        sentence,
        compared,
        findings.came,
        findings.went,
        findings.changed,
        changes,
        counts,
        took,
        differing,
        (*_not_compared(before, after, graphs), *unknown),
    )


def nodes_wanted(before: Recording, after: Recording) -> tuple[frozenset[str], frozenset[str]]:
    """The contents to read once more of each side: the nodes of graphs that the other has not."""
    graphs = _unlike(before, after, NamesOfBoth(before, after))
    if not graphs.by_key:
        return frozenset(), frozenset()
    was, now = (_within_bound([each.graph for each in side]) for side in (graphs.before, graphs.after))
    return was, now


def with_nodes(recording: Recording, read_again: Recording) -> Recording:
    """The recording with the nodes that a second reading of it loaded."""
    nodes = {
        (process.stream, graph.number): graph.nodes
        for process in read_again.processes
        for graph in process.graphs
        if graph.nodes is not None
    }
    processes = [
        replace(
            process,
            graphs=[replace(g, nodes=nodes.get((process.stream, g.number), g.nodes)) for g in process.graphs],
        )
        for process in recording.processes
    ]
    return replace(recording, processes=processes)


def _unlike(before: Recording, after: Recording, names: NamesOfBoth) -> Unlike:
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
    return Difference("not comparable", sentence, nothing, (), (), (), (), (), (), (), (why,))
