"""The collectives of a graph, in the order in which every rank has to call them."""

from collections.abc import Iterator, Sequence

from ...model import Graph, Node, Place
from ...shared.collective_calls import CollectiveCall, collective_call
from ...shared.quick_dataclass import dataclass
from ..library import is_library


@dataclass(frozen=True)
class Collective:
    """A call of a collective in a graph, what it gives, and on which kinds of devices."""

    call: CollectiveCall
    value: str
    graph: Graph
    place: Place | None
    devices: frozenset[str] = frozenset()

    @property
    def key(self) -> tuple[object, ...]:
        """What has to be the same on every rank of the group."""
        return self.call.name, "" if self.call.has_own_sizes else self.value, self.call.arguments

    def __str__(self) -> str:
        return f"{self.call.name} of {self.value}" if self.value else self.call.name


def collectives_of(graph: Graph) -> list[Collective] | None:
    """Those of a graph, in order; None where its nodes were not recorded, or not asked for."""
    return None if graph.nodes is None else list(_collectives(graph, graph.nodes))


def _collectives(graph: Graph, nodes: Sequence[Node]) -> Iterator[Collective]:
    for at, node in enumerate(nodes):
        call = collective_call(node.target, node.args)
        if call is not None:
            devices = frozenset(tensor.device.partition(":")[0] for tensor in node.tensors)
            yield Collective(call, tensors_in_words(node), graph, place_in_program(nodes, at), devices)


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
