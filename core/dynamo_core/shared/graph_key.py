"""A key of what a Dynamo graph computes, the same in every process and run; and a graph's collectives.

The key is made from the nodes as they are recorded (`capture/probes/graphs.py`), without what differs from
run to run or does not matter: addresses, the names of nodes and symbolic sizes, and where in the program
inputs are found. Two layers that compute the same on inputs of the same shapes therefore share a key.

Patterns are compiled where they are used, since most processes that import this make no key. The pattern of a
symbol's name (s77, u0, zuf1) is torch's: torch/utils/_sympy/symbol.py (prefix_str).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import md5, sha256
from json import dumps
from typing import Any, NamedTuple

_OF_A_TENSOR = ("shape", "stride", "dtype", "device", "requires_grad")
_DIGITS = 24


def graph_key(nodes: Sequence[Mapping[str, Any]], modes: Mapping[str, Any]) -> str:
    """The key of a graph: 24 hexadecimal digits.

    `nodes` are JSON objects as recorded; `modes` are the settings of torch that change what the same nodes
    compute.
    """
    text = "\n".join([dumps(dict(modes), sort_keys=True), *canonical_lines(nodes)])
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:_DIGITS]


def canonical_lines(nodes: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each node with what it computes, without what differs from run to run."""
    names = {node["name"]: f"%{i}" for i, node in enumerate(nodes)}
    for symbol in dict.fromkeys(_symbols(nodes)):
        names.setdefault(symbol, f"?{len(names)}")
    return [_canonical(node, names) for node in nodes]


def _symbols(nodes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The names of symbolic sizes, in the order of the inputs."""
    for node in nodes:
        if node["op"] == "placeholder":
            sizes = (*node.get("shape", ()), *node.get("stride", ()), node.get("symbol", ""))
            for size in sizes:
                if isinstance(size, str):
                    yield from re.findall(r"\b[a-z]{1,3}\d+\b", size)


def _canonical(node: Mapping[str, Any], names: Mapping[str, str]) -> str:
    parts = [node["op"]]
    if node["op"].startswith("call_"):
        parts.append(_without_addresses(node["target"]))
    for text in (node["args"], node["kwargs"]):
        parts.append(
            re.sub(r"[^\W\d]\w*", lambda word: names.get(word[0], word[0]), _without_addresses(text))
        )
    if node["op"] in ("placeholder", "get_attr"):
        described = {name: node[name] for name in (*_OF_A_TENSOR, "symbol", "subgraph") if name in node}
        canonical = re.sub(r"\b[a-z]{1,3}\d+\b", lambda word: names.get(word[0], word[0]), dumps(described))
        parts.append(canonical)
    return " ".join(parts)


def _without_addresses(text: str) -> str:
    return re.sub(r"\b0x[0-9a-fA-F]+\b", "0x", text)


# The nodes that call a collective, and what has to be the same in a graph on all ranks.
# Source: torch/distributed/_functional_collectives.py (`torch.ops._c10d_functional.…`), 2.8 to 2.15.
_NAMESPACES = ("_c10d_functional.", "_c10d_functional_autograd.", "c10d_functional.")
_NOT_COLLECTIVE = ("wait_tensor",)
# Collectives whose inputs and outputs may have another size on each rank.
_OF_OWN_SIZES = ("all_to_all_single",)


class CollectiveCall(NamedTuple):
    """A collective: its name, its arguments after the tensor, and the name of its process group."""

    name: str
    arguments: tuple[str, ...]
    group: str

    @property
    def has_own_sizes(self) -> bool:
        """Whether the sizes may differ between ranks."""
        return self.name in _OF_OWN_SIZES


def collective_call(target: str, args: str) -> CollectiveCall | None:
    """The collective that a node calls, by its recorded target and arguments; None if it calls none."""
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
    """The part of a graph in a rank's digest: a hash of its ops and sizes, and its collectives in order.

    Of a collective it has the group, and a hash of what has to be the same on all ranks.
    """

    ops: str
    collectives: list[list[str]]


def order_of_graph(nodes: Sequence[Mapping[str, Any]]) -> OrderOfGraph:
    """The digest's part for recorded nodes; without constants and devices, which may differ between ranks."""
    steps = md5(usedforsecurity=False)
    collectives = []
    for node in nodes:
        target = node["target"] if node["op"].startswith("call_") else ""
        tensors = list(_tensors(node))
        steps.update(dumps([node["op"], target, tensors]).encode())
        call = collective_call(target, node["args"])
        if call is not None:
            inputs = [] if call.has_own_sizes else tensors
            collectives.append([call.group, hash_of(call.name, inputs, call.arguments)])
    return OrderOfGraph(steps.hexdigest(), collectives)


def hash_of(*parts: object) -> str:
    """The MD5 checksum of values that JSON can hold."""
    return md5(dumps(parts).encode(), usedforsecurity=False).hexdigest()


def _tensors(value: Mapping[str, Any]) -> Iterator[list[Any]]:
    if "shape" in value:
        yield [value["dtype"], value["shape"]]
    for item in value.get("values", ()):
        yield from _tensors(item)
