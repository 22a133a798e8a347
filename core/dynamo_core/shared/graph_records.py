"""Our records of what Dynamo and AOTAutograd made: graphs, bytecode, forward and backward."""

from typing import Any

from . import names
from .our_record import OurRecord


class GraphHandedOver(OurRecord):
    """A graph as it is given to its backend.

    `key` is what it computes (`graph_key.py`), `modes` under which settings of torch's; `trains` says whether
    it is compiled to be differentiated. Its `order` is that of `collective_calls.py`. `custom_operators` have
    the file and line of each, `loop` what Dynamo unrolled. A node has its op, name, target, arguments as
    text, the names of its inputs, and of its value what is known.
    """

    NAME = names.FX_GRAPH
    LISTS = ("nodes",)

    graph: int
    name: str | None
    backend: str
    ops: int
    optimizer_steps: Any = None
    key: str | None = None
    trains: bool | None = None
    modes: dict[str, Any] | None = None
    threads: int | None = None
    custom_operators: dict[str, Any] | None = None
    loop: dict[str, Any] | None = None
    handed_over_ns: int | None = None
    order: Any = None
    nodes: list[Any] | None = None


class FrameRewritten(OurRecord):
    """The bytecode of a compiled frame before and after Dynamo, and the text of its lines, by number.

    An instruction is [offset, opcode, argument, line, jump target or null].
    """

    NAME = names.BYTECODE
    LISTS = ("original", "modified")

    name: str
    qualified_name: str
    file: str
    first_line: int
    fingerprint: str
    source: dict[Any, str]
    original: list[list[Any]] | None = None
    modified: list[list[Any]] | None = None


class GraphsPaired(OurRecord):
    """What a forward graph and its backward have to do with each other; see `aot_pair.py`, which makes it.

    `graph` is the number of Dynamo's graph; None where the pair was read from torch's own texts.
    """

    NAME = names.AOT_PAIR

    graph: int | None
    joint: dict[str, int] | None
    forward: dict[str, int]
    backward: dict[str, int]
    inputs: int
    outputs: int
    tangents: int
    gradients: int
    saved: list[dict[str, Any]]
    recomputed: dict[str, int]
