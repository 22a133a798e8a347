"""The collectives of a graph, in the order in which every rank has to call them.

Source: torch/distributed/_functional_collectives.py (`torch.ops._c10d_functional.…`), 2.8 to 2.15.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...model import Graph, Node, Place
from ..library import is_library

_NAMESPACES = ("_c10d_functional.", "_c10d_functional_autograd.", "c10d_functional.")
_NOT_COLLECTIVE = ("wait_tensor",)
# What each rank gives or gets may be of a size of its own.
_OF_OWN_SIZES = ("all_to_all_single",)


@dataclass(frozen=True)
class Collective:
    """A call of a collective in a graph: what it gives, its arguments behind the tensor, its group's name.

    Every rank that is in a group knows it by the same name.
    """

    name: str
    value: str
    arguments: tuple[str, ...]
    group: str
    graph: Graph
    place: Place | None

    @property
    def key(self) -> tuple[object, ...]:
        """What has to be the same on every rank of the group."""
        return self.name, "" if self.name in _OF_OWN_SIZES else self.value, self.arguments

    def __str__(self) -> str:
        return f"{self.name} of {self.value}" if self.value else self.name


def collectives_of(graph: Graph) -> list[Collective] | None:
    """Those of a graph, in order; None where its nodes were not recorded, or not asked for."""
    return None if graph.nodes is None else list(_collectives(graph, graph.nodes))


def _collectives(graph: Graph, nodes: Sequence[Node]) -> Iterator[Collective]:
    for at, node in enumerate(nodes):
        name = _name(node.target)
        if name is not None:
            _, *arguments = node.args.strip("()").split(", ")
            group = arguments.pop() if arguments else ""
            place = place_in_program(nodes, at)
            yield Collective(name, tensors_in_words(node), tuple(arguments), group.strip("'"), graph, place)


def _name(target: str) -> str | None:
    for namespace in _NAMESPACES:
        _, found, rest = target.rpartition(namespace)
        if found:
            name = rest.partition(".")[0].rstrip("_")
            return None if name in _NOT_COLLECTIVE else name
    return None


def tensors_in_words(node: Node) -> str:
    """The dtype and sizes of what a node gives: `float32[8, 4]`."""
    return ", ".join(
        f"{tensor.dtype.removeprefix('torch.')}[{', '.join(map(str, tensor.shape))}]"
        for tensor in node.tensors
    )


def place_in_program(nodes: Sequence[Node], at: int) -> Place | None:
    """The program's own line for a node: where a library made it, the line of the call into that."""
    node = nodes[at]
    if node.called_from is not None:
        return node.called_from
    if node.place is None or not is_library(node.place):
        return node.place
    before = (each.place for each in reversed(nodes[:at]) if each.place is not None)
    return next((place for place in before if not is_library(place)), node.place)
