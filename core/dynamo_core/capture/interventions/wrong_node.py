"""Which node of a graph is compiled wrongly: the first whose value disagrees with eager.

First the graph is compiled anew with every intermediate value as an output as well. Where that hides the
fault (the values are no longer fused away), the graph is cut after one node and another until the shortest
part is found that is wrong. As torch's minifier does (torch/_dynamo/repro/after_dynamo.py), the backend is
called without Dynamo and on real inputs; all of them are clones.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...backends.agreement import Comparison, compare
from ...backends.graph_copy import copy_of_graph
from .verified_call import CallBefore, runner

# A cut halves what is left to search, so that this is enough for a graph of 4000 nodes.
MOST_CUTS = 12


class Found(NamedTuple):
    """The node, and its value beside eager's; or why there is none."""

    node: Any = None
    comparison: Comparison | None = None
    reason: str | None = None


def first_wrong_node(gm: Any, compiler: Callable[..., Any], before: CallBefore) -> Found:
    """Search the graph. Raises what the backend raises; generators and modes are the caller's to restore."""
    nodes = [node for node in gm.graph.nodes if _has_tensor(node)]
    wrong = _first_disagreement(gm, nodes, compiler, before, until=None)
    if wrong is not None:
        return wrong
    low, high, found = 0, len(nodes), None  # the parts that end before nodes[low] are right
    for _ in range(MOST_CUTS):
        if low >= high:
            break
        middle = (low + high) // 2 if found else high - 1
        wrong = _first_disagreement(gm, _alive_after(nodes[: middle + 1]), compiler, before, nodes[middle])
        if wrong is not None:
            found, high = wrong._replace(node=nodes[middle]), middle
        elif found is None:
            break
        else:
            low = middle + 1
    return found or Found(reason="compiled with other outputs, no part of the graph is wrong")


def _first_disagreement(
    gm: Any, nodes: Sequence[Any], compiler: Callable[..., Any], before: CallBefore, until: Any
) -> Found | None:
    """Compile the graph with the values of these nodes as its outputs; without what comes after `until`."""
    part, wanted = _with_outputs(gm, nodes, until)
    compiled = compiler(copy_of_graph(part), before.arguments())
    candidate, eager = before.run(compiled), before.run(runner(part))
    exact = before.run_in_float64(part)
    comparisons = compare(
        [node.name for node in wanted],
        candidate.outputs,
        eager.outputs,
        None if exact is None else exact.outputs,
        lambda seed: before.rounded_otherwise(runner(part), seed, lambda run: run.outputs),
    )
    for node, comparison in zip(wanted, comparisons, strict=True):
        if not comparison.agrees:
            return Found(node, comparison)
    return None


def _with_outputs(gm: Any, nodes: Sequence[Any], until: Any) -> tuple[Any, list[Any]]:
    """A copy of the graph that gives clones of these values: what they are before anything changes them."""
    part = copy_of_graph(gm)
    graph = part.graph
    copies = dict(zip(gm.graph.nodes, list(graph.nodes), strict=True))
    output = next(node for node in reversed(graph.nodes) if node.op == "output")
    clones = []
    for node in nodes:
        with graph.inserting_after(copies[node]):
            clones.append(graph.call_method("clone", (copies[node],)))
    output.args = (tuple(clones),)
    if until is not None:
        _erase_after(graph, copies[until], {*clones, output})
    graph.lint()
    part.recompile()
    return part, list(nodes)


def _erase_after(graph: Any, last: Any, kept: set[Any]) -> None:
    """Take what comes after a node off the graph; what leaves autocast stays."""
    import torch

    kept_nodes = [*graph.nodes]
    after = kept_nodes[kept_nodes.index(last) + 1 :]
    for node in reversed(after):
        is_exit = node.target is torch.amp.autocast_mode._exit_autocast and node.args[0] not in after
        if node not in kept and not is_exit and not node.users and node.op != "placeholder":
            graph.erase_node(node)


def _alive_after(nodes: Sequence[Any]) -> list[Any]:
    """Of these nodes, in their order, the last one and those that are read by nodes behind it."""
    known = set(nodes)
    return [node for node in nodes if node is nodes[-1] or any(user not in known for user in node.users)]


def _has_tensor(node: Any) -> bool:
    import torch

    return node.op.startswith("call_") and isinstance(node.meta.get("example_value"), torch.Tensor)
