"""How a forward graph and its backward relate: what is saved between them, and what is recomputed.

The probe has the nodes as objects, and the reader of a plain trace has them as text; both use this module,
which needs the standard library only.

Source: torch/_functorch/partitioners.py (_extract_fwd_bwd_modules, _extract_graph_with_inputs_outputs): the
forward graph returns the user's outputs, then what is saved; the backward takes what is saved under the same
names, then the tangents; nodes keep the joint graph's names. Read in 2.8 to 2.15.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .records import GraphsPaired

# Where a saved tensor's memory comes from.
INPUT, OUTPUT, ACTIVATION = "input", "output", "activation"

GETITEM = "operator.getitem"
# Operators whose results share the memory of their first argument: those of `OpOverload.is_view` that
# AOTAutograd does not decompose.
_VIEWS = frozenset(
    f"aten.{name}"
    for name in (
        *("_conj", "_neg_view", "_reshape_alias", "alias", "as_strided", "conj", "detach", "diagonal"),
        *("expand", "imag", "narrow", "permute", "real", "select", "slice", "split", "split_with_sizes"),
        *("squeeze", "swapaxes", "t", "transpose", "unbind", "unfold", "unsqueeze", "view", "view_as"),
        *("view_as_complex", "view_as_real"),
    )
)
# Computed on the host, on sizes: they cost no memory and next to no time.
_ON_SIZES = ("operator.", "aten.sym_", "torch.sym_")


def shares_memory(operator: str | None) -> bool:
    """Whether the operator's result may share the memory of its first argument."""
    return operator in _VIEWS or operator == GETITEM


class AotNode(NamedTuple):
    """A node of one of AOTAutograd's graphs. `operator` is `aten.mm`, None for what calls nothing.

    The first of `inputs` matters where `shares_memory(operator)`.
    """

    name: str
    operator: str | None
    inputs: tuple[str, ...] = ()


class AotGraph(NamedTuple):
    """A graph's placeholders, its other nodes in order, and the names of its outputs (None for None)."""

    placeholders: tuple[str, ...]
    nodes: tuple[AotNode, ...]
    outputs: tuple[str | None, ...]

    def operators(self) -> dict[str, int]:
        """How many nodes call each operator."""
        return dict(Counter(node.operator for node in self.nodes if node.operator is not None))


def graphs_paired(
    graph: int | None,
    joint: Mapping[str, int] | None,
    forward: AotGraph,
    backward: AotGraph,
    describe: Callable[[str], dict[str, Any]],
) -> GraphsPaired:
    """The record of a pair.

    `joint` counts the joint graph's operators, and `describe` says of a node of the forward graph what is
    known of its value: shape, dtype, device, bytes, the symbol, the user's file and line.
    """
    taken = set(backward.placeholders)
    saved = _trailing(forward.outputs, taken)
    outputs = forward.outputs[: len(forward.outputs) - len(saved)]
    roots = _Roots(forward)
    returned = {roots.of(name) for name in outputs if name is not None}
    forward_nodes = {node.name: node for node in forward.nodes}
    described = []
    for name in saved:
        root = roots.of(name)
        node = forward_nodes.get(name)
        described.append(
            {
                "name": name,
                "kind": INPUT if root in roots.inputs else OUTPUT if root in returned else ACTIVATION,
                "operator": None if node is None else node.operator,
                "storage": root,
                "storage_bytes": describe(root).get("bytes"),
                **describe(name),
            }
        )
    return GraphsPaired(
        graph=graph,
        joint=None if joint is None else dict(joint),
        forward=forward.operators(),
        backward=backward.operators(),
        inputs=len(forward.placeholders),
        outputs=len(outputs),
        tangents=sum(name.startswith("tangents") for name in backward.placeholders),
        gradients=sum(name is not None for name in backward.outputs),
        saved=described,
        recomputed=_recomputed(forward, backward),
    )


def _trailing(outputs: Sequence[str | None], taken: set[str]) -> list[str]:
    """The saved values: the last outputs of the forward, as far as the backward takes them."""
    saved: list[str] = []
    for name in reversed(outputs):
        if name is None or name not in taken or name in saved:
            break
        saved.append(name)
    return saved[::-1]


def _recomputed(forward: AotGraph, backward: AotGraph) -> dict[str, int]:
    """The operators that the backward computes again, by count; without views and sizes."""
    names = {node.name for node in forward.nodes}
    repeated = Counter(
        node.operator for node in backward.nodes if node.name in names and node.operator is not None
    )
    return {
        operator: count
        for operator, count in repeated.items()
        if operator not in _VIEWS and not operator.startswith(_ON_SIZES)
    }


class _Roots:
    """For each node of a graph, the node whose memory it shares."""

    def __init__(self, graph: AotGraph) -> None:
        self.inputs = set(graph.placeholders)
        self._roots: dict[str, str] = {}
        views: set[str] = set()
        for node in graph.nodes:
            is_view = node.operator in _VIEWS or (node.operator == GETITEM and node.inputs[0] in views)
            if is_view and node.inputs:
                views.add(node.name)
                self._roots[node.name] = self.of(node.inputs[0])

    def of(self, name: str) -> str:
        return self._roots.get(name, name)
