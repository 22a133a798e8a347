"""A name for what a Dynamo graph computes, the same in every process, every run and on every day.

It is made of the nodes as they are recorded (`capture/probes/graphs.py`), without what differs from run
to run or does not matter: addresses, the names of nodes and symbolic sizes, and where in the program inputs
are found. Two layers that compute the same on inputs of the same shapes therefore share a key.

Patterns stand where they are used, since most processes that import this make no key. That of a symbol's name
(s77, u0, zuf1) is torch's: torch/utils/_sympy/symbol.py (prefix_str).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from json import dumps
from typing import Any

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
