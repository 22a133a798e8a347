"""What the inputs of a graph are filled with when it runs outside of its program: none of the user's data.

Numbers from a normal distribution would do for the time that a graph takes, but not for whether two results
agree: deep networks of such weights overflow, indices must lie in range, and no variance is negative.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import prod, sqrt

from ...model import Node, TensorInfo

_FLOATS = ("float64", "float32", "float16", "bfloat16")
_INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
# What an index may pass through on its way to the operator that looks something up.
_OF_SHAPE = ("flatten", "view", "reshape", "contiguous", "squeeze", "unsqueeze", "transpose", "permute")
_SAME_VALUES = frozenset((*_OF_SHAPE, "getitem", "clone", "detach", "long", "int"))
# Operators that look up: which input has the indices, which the table, and which of its dimensions is meant.
_LOOKUPS = {"embedding": (0, 1, 0), "cross_entropy": (1, 0, 1), "nll_loss": (1, 0, 1)}


def changes(node: Node, ranges: Mapping[str, int]) -> str:
    """Calls to put behind a tensor of random numbers (zeros, where they are integers) for this input."""
    if not node.tensors or _overlaps(node.tensors[0]):
        return ""
    tensor = node.tensors[0]
    if tensor.dtype == "bool":
        return ".random_(0, 2)"
    if tensor.dtype in _INTEGERS:
        return f".random_(0, {ranges[node.name]})" if ranges.get(node.name, 0) > 1 else ""
    if tensor.dtype not in _FLOATS:
        return ""
    if "running_var" in (node.source or ""):
        return ".abs_()"
    sizes = [size for size in tensor.shape[1:] if isinstance(size, int)]
    if node.is_parameter and sizes and prod(sizes) > 1:
        return (
            f".div_({sqrt(prod(sizes)):.4g})"  # as layers are initialised: what goes through stays as large
        )
    return ""


def index_ranges(nodes: Sequence[Node]) -> dict[str, int]:
    """For inputs that are indices, by name: how many there are to choose from."""
    by_name = {node.name: node for node in nodes}
    ranges: dict[str, int] = {}
    for node in nodes:
        lookup = _LOOKUPS.get(_short(node.target)) if node.op == "call_function" else None
        if lookup is None or len(node.inputs) < 2:
            continue
        indices, table, dimension = lookup
        origin = _origin(node.inputs[indices], by_name)
        sizes = _sizes(by_name.get(node.inputs[table]))
        if origin is not None and sizes:
            size = sizes[min(dimension, len(sizes) - 1)]
            if isinstance(size, int):
                ranges[origin] = min(size, ranges.get(origin, size))
    return ranges


def _origin(name: str, by_name: Mapping[str, Node]) -> str | None:
    """The placeholder whose values a node has, if it only changes their shape or type."""
    node = by_name.get(name)
    while node is not None and node.op != "placeholder":
        if _short(node.target) not in _SAME_VALUES or not node.inputs:
            return None
        node = by_name.get(node.inputs[0])
    return None if node is None else node.name


def _short(target: str) -> str:
    return target.rpartition(".")[2]


def _sizes(node: Node | None) -> Sequence[int | str]:
    return node.tensors[0].shape if node is not None and node.tensors else ()


def _overlaps(tensor: TensorInfo) -> bool:
    """Whether several elements share their memory, which cannot be changed in place then."""
    return tensor.stride is None or any(stride == 0 for stride in tensor.stride)


def symbolic_dimensions(placeholders: Iterable[Node]) -> dict[str, tuple[int, ...]]:
    """By name of the input: which dimensions were symbolic; none for a number that was."""
    found: dict[str, tuple[int, ...]] = {}
    for node in placeholders:
        sizes = _sizes(node)
        open_ones = tuple(i for i, size in enumerate(sizes) if isinstance(size, str))
        if open_ones or (node.symbol is not None and not node.tensors):
            found[node.name] = open_ones
    return found
