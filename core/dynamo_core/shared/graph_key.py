"""A name for what a Dynamo graph computes, the same in every process, every run and on every day.

It is made of the nodes as they are recorded (`capture/probes/graphs.py`), without what differs from run
to run or does not matter: addresses, the names of nodes and symbolic sizes, and where in the program inputs
are found. Two layers that compute the same on inputs of the same shapes therefore share a key.

Patterns stand where they are used, since most processes that import this make no key. That of a symbol's name
(s77, u0, zuf1) is torch's: torch/utils/_sympy/symbol.py (prefix_str).
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
    """What each node computes, without what differs from run to run."""
    names = {node["name"]: f"%{i}" for i, node in enumerate(nodes)}
    for symbol in dict.fromkeys(_symbols(nodes)):
        names.setdefault(symbol, f"?{len(names)}")
    return [_canonical(node, names) for node in nodes]


def _symbols(nodes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Names of symbolic sizes, in the order in which the inputs show them."""
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


# Which nodes of a graph call a collective, and what of a graph has to be the same on all ranks.
#
# Source: torch/distributed/_functional_collectives.py (`torch.ops._c10d_functional.…`), 2.8 to 2.15.


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
    """The key of nodes as they are recorded, without constants and devices, which may be a rank's own."""
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
