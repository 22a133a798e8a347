"""Which nodes of a graph call a collective, and what of a graph has to be the same on all ranks.

Source: torch/distributed/_functional_collectives.py (`torch.ops._c10d_functional.…`), 2.8 to 2.15.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import md5
from json import dumps
from typing import Any, NamedTuple

_NAMESPACES = ("_c10d_functional.", "_c10d_functional_autograd.", "c10d_functional.")
_NOT_COLLECTIVE = ("wait_tensor",)
# What each rank gives or gets may be of a size of its own.
_OF_OWN_SIZES = ("all_to_all_single",)


class CollectiveCall(NamedTuple):
    """Its name, its arguments behind the tensor, and its group's name, which all ranks of the group know."""

    name: str
    arguments: tuple[str, ...]
    group: str

    @property
    def has_own_sizes(self) -> bool:
        """Whether the sizes may be a rank's own."""
        return self.name in _OF_OWN_SIZES


def collective_call(target: str, args: str) -> CollectiveCall | None:
    """The collective that a node calls, by its target and arguments as they are recorded."""
    for namespace in _NAMESPACES:
        _, found, rest = target.rpartition(namespace)
        if found:
            name = rest.partition(".")[0].rstrip("_")
            if name in _NOT_COLLECTIVE:
                return None
            _, *arguments = args.strip("()").split(", ")
            group = arguments.pop() if arguments else ""
            return CollectiveCall(name, tuple(arguments), group.strip("'"))
    return None


class OrderOfGraph(NamedTuple):
    """What a rank's digest holds of a graph: a hash of its ops and sizes, and for each collective, in order,
    the group and a hash of what has to be the same."""

    ops: str
    collectives: list[list[str]]


def order_of_graph(nodes: Sequence[Mapping[str, Any]]) -> OrderOfGraph:
    """Of nodes as they are recorded. Constants and devices may be a rank's own and are not in it."""
    steps = md5(usedforsecurity=False)
    collectives = []
    for node in nodes:
        target = node["target"] if node["op"].startswith("call_") else ""
        tensors = list(_tensors(node))
        steps.update(dumps([node["op"], target, tensors]).encode())
        call = collective_call(target, node["args"])
        if call is not None:
            given = [] if call.has_own_sizes else tensors
            collectives.append([call.group, hash_of(call.name, given, call.arguments)])
    return OrderOfGraph(steps.hexdigest(), collectives)


def hash_of(*parts: object) -> str:
    """The MD5 checksum of values that JSON can hold."""
    return md5(dumps(parts).encode(), usedforsecurity=False).hexdigest()


def _tensors(value: Mapping[str, Any]) -> Iterator[list[Any]]:
    if "shape" in value:
        yield [value["dtype"], value["shape"]]
    for each in value.get("values", ()):
        yield from _tensors(each)
