"""The nodes of an FX graph: their text, repeated regions, and checks for operators that are not torch's."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal

from ...model import Graph, Node, OperatorSource, Place, TensorInfo
from ...shared.failed_guard import with_member_names
from ...shared.quick_dataclass import dataclass
from ..words import graph_frame, number, place

# As torch's own readable code abbreviates them (torch/utils/_dtype_abbrs.py).
_DTYPES = {
    "bfloat16": "bf16",
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "complex32": "c32",
    "complex64": "c64",
    "complex128": "c128",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "bool": "b8",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
}
# `    # File: /a/b.py:7 in f, code: x = a + 1`: torch.fx writes it above the code that comes from a line.
_LINE_COMMENT = re.compile(
    r"^[^\S\n]*# File: ((?:(?!:\d{1,9} in ).)+):(\d{1,9}) in ((?:(?!, code: ).)*), code: (.*)$", re.MULTILINE
)
_LAST_MEMBER = re.compile(r"_(parameter|buffer)s(?:'\])?\['[^']+'\]$")
_ROOT = re.compile(r"^[LG]\['(\w+)'\]")
_WORD = re.compile(r"[^\W\d]\w*")

TIMES = "\u00d7"  # as in `24 times`
Kind = Literal["input", "parameter", "buffer", "symbol"]  # of a placeholder


def kind_of(node: Node) -> Kind:
    """Which kind of input a placeholder is."""
    if node.is_parameter:
        return "parameter"
    member = _LAST_MEMBER.search(node.source or "")
    if member is not None:
        return "parameter" if member[1] == "parameter" else "buffer"
    return "symbol" if node.symbol is not None and not node.tensors else "input"


def module_path(source: str) -> str:
    """`self.blocks.0.weight` for `L['self']._modules['blocks']._modules['0']._parameters['weight']`."""
    return with_member_names(_ROOT.sub(r"\1", source))


def paths_of_state(nodes: Iterable[Node]) -> dict[str, str]:
    """The path in the user's module of each parameter and buffer, by its FX name."""
    return {
        node.name: module_path(node.source)
        for node in nodes
        if node.op == "placeholder" and node.source and kind_of(node) in ("parameter", "buffer")
    }


def with_paths(text: str, paths: Mapping[str, str]) -> str:
    """A text of arguments, with the FX names of parameters and buffers replaced by their paths."""
    return _WORD.sub(lambda word: paths.get(word[0], word[0]), text) if paths else text


def arguments(node: Node, paths: Mapping[str, str]) -> str:
    """The text of the positional arguments of a node, and of the keyword arguments where there are any."""
    keywords = "" if node.kwargs in ("{}", "") else f" {node.kwargs}"
    return with_paths(node.args + keywords, paths)


def value_text(node: Node) -> str:
    """The result of a node as `f32[8, 24] cpu`, several for a tuple of tensors; the expression for a size."""
    if node.symbol is not None and not node.tensors:
        return node.symbol
    counted = ((text, len(list(same))) for text, same in groupby(map(tensor_text, node.tensors)))
    return ", ".join(text if count == 1 else f"{count} {TIMES} {text}" for text, count in counted)


def tensor_text(tensor: TensorInfo) -> str:
    """The dtype, shape and device of a tensor, and its strides if it is not contiguous."""
    shape = ", ".join(map(str, tensor.shape))
    stride = ""
    if tensor.stride is not None and not _is_contiguous(tensor):
        stride = f"[{', '.join(map(str, tensor.stride))}]"
    return f"{_DTYPES.get(tensor.dtype, tensor.dtype)}[{shape}]{stride} {tensor.device}"


def dtype_of(abbreviation: str) -> str:
    """The dtype for an abbreviation: `float32` for `f32`."""
    return next((dtype for dtype, short in _DTYPES.items() if short == abbreviation), abbreviation)


def _is_contiguous(tensor: TensorInfo) -> bool:
    """Whether the strides follow from the shape; products of symbolic sizes are compared factor by factor."""
    elements: list[str] = []
    whole = 1
    for size, stride in zip(reversed(tensor.shape), reversed(tensor.stride or ()), strict=False):
        factors = sorted(f for f in str(stride).split("*") if f != "1")
        expected = sorted([*elements, *([str(whole)] if whole != 1 else [])])
        if size != 1 and factors != expected:
            return False
        if isinstance(size, int):
            whole *= max(size, 1)
        else:
            elements += str(size).split("*")
    return True


def user_lines(code: str | None) -> dict[Place, tuple[str, str]]:
    """The function and text of the user's lines that the readable code of a graph mentions."""
    found = _LINE_COMMENT.findall(code or "")
    return {Place(file, int(line)): (function, text.strip()) for file, line, function, text in found}


def line_text(value: Place | None, lines: Mapping[Place, tuple[str, str]]) -> str:
    """A user's line: its place, and its text if that is known."""
    if value is None:
        return ""
    _, text = lines.get(value, ("", ""))
    return f"{place(value)}  {text}".rstrip()


def counts_of(graph: Graph) -> dict[str, int] | None:
    """How many inputs, parameters, buffers, symbols, ops and outputs a graph has; None without its nodes."""
    if graph.nodes is None:
        return None
    kinds = Counter(kind_of(node) for node in graph.nodes if node.op == "placeholder")
    return {
        "inputs": kinds["input"],
        "parameters": kinds["parameter"],
        "buffers": kinds["buffer"],
        "symbols": kinds["symbol"],
        "ops": sum(node.op.startswith("call_") for node in graph.nodes),
        "outputs": sum(len(node.inputs) for node in graph.nodes if node.op == "output"),
    }


def counts_text(graph: Graph) -> str:
    """The counts as `2 inputs, 29 parameters, 5 ops, 1 output`; zero counts of other kinds are left out."""
    counts = counts_of(graph)
    if counts is None:
        return number(graph.ops, "op")
    singular = {name: name[:-1] for name in counts}
    shown = [
        number(count, "symbolic size" if name == "symbols" else singular[name])
        for name, count in counts.items()
        if count or name in ("inputs", "ops", "outputs")
    ]
    return ", ".join(shown)


def place_in(graph: Graph) -> str:
    """The frame of a graph, and where the frame begins."""
    return f"{graph_frame(graph)} ({place(graph.frame_place)})"


# Repeated regions of a sequence, such as the layers of a network, so that a region is shown once.

_LONGEST_PERIOD = 300  # nodes; a layer is far smaller, and each period is searched for separately


@dataclass(frozen=True)
class Repeat:
    """The `period` items from `start` on are repeated `times` times in a row; `parts` is the first copy."""

    start: int
    period: int
    times: int
    parts: "tuple[int | Repeat, ...]"

    @property
    def end(self) -> int:
        """The first item after the last copy."""
        return self.start + self.period * self.times


Part = int | Repeat


def folded(tokens: Sequence[Hashable], least_saved: int = 6) -> tuple[Part, ...]:
    """The positions of `tokens` in order, with each repeated region as one `Repeat`.

    The regions that save most items are folded first, then what is left between them and inside. A region
    that saves fewer than `least_saved` items is not folded.
    """
    numbers: dict[Hashable, int] = {}
    return _folded([numbers.setdefault(token, len(numbers)) for token in tokens], 0, len(tokens), least_saved)


def layer_token(node: Node) -> tuple[object, ...]:
    """The token by which nodes of different layers are equal if they do the same at the same line."""
    return (node.op, node.target, node.place)


def _folded(tokens: Sequence[int], start: int, end: int, least_saved: int) -> tuple[Part, ...]:
    is_taken = bytearray(end - start)
    chosen: list[tuple[int, int, int]] = []
    for first, period, times in sorted(_repeats(tokens, start, end, least_saved), key=_most_saved_first):
        region = slice(first - start, first - start + period * times)
        if not any(is_taken[region]):
            is_taken[region] = b"\1" * (period * times)
            chosen.append((first, period, times))
    if not chosen:
        return tuple(range(start, end))
    parts: list[Part] = []
    done = start
    for first, period, times in sorted(chosen):
        inside = _folded(tokens, first, first + period, least_saved)
        parts += [*_folded(tokens, done, first, least_saved), Repeat(first, period, times, inside)]
        done = first + period * times
    return (*parts, *_folded(tokens, done, end, least_saved))


def _most_saved_first(repeat: tuple[int, int, int]) -> tuple[int, int, int]:
    """Sort key: most saved items first, then the shortest period, then the first position."""
    first, period, times = repeat
    return (-(times - 1) * period, period, first)


def _repeats(tokens: Sequence[int], start: int, end: int, least_saved: int) -> Iterator[tuple[int, int, int]]:
    """Start, period and number of copies of every maximal repeated region."""
    for period in range(1, min((end - start) // 2, _LONGEST_PERIOD) + 1):
        equal = 0  # how many items in a row equal the item one period later
        for position in range(start, end - period + 1):
            if position < end - period and tokens[position] == tokens[position + period]:
                equal += 1
                continue
            times = equal // period + 1
            if times > 1 and (times - 1) * period >= least_saved:
                yield position - equal, period, times
            equal = 0


# Operators of a graph that are not torch's: a program made of the graph alone has to import them.

# The namespaces that torch registers itself, read from 2.13 (torch._C._dispatch_get_all_op_names) and from
# the sources of torch/ in 2.8 to 2.15.
_TORCHS = re.compile(
    "_c10d_functional|_c10d_functional_autograd|_dtensor|_native|_quantized|aten|c10d|c10d_functional|"
    "debug_mode_ops|debugprims|export|flex_lib|fsdp|higher_order|inductor|inductor_prims|mkl|mkldnn|"
    "mkldnn_prepacked|onednn|onnx|onnx_symbolic|prim|prims|profiler|quantization|quantized|"
    "quantized_decomposed|rngprims|sparse|static_runtime|streams|symm_mem"
)
_OPERATOR = re.compile(r"\btorch\.ops\.([^\W\d]\w*)\.([^\W\d]\w*)", re.ASCII)
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*", re.ASCII)
_CHECK = """\
if not hasattr(torch.ops.{namespace}, {name!r}):
    raise SystemExit({message!r})
"""


def checks_of_operators(code: str, registered: Mapping[str, OperatorSource]) -> str:
    """Code that exits with a message on what to import if an operator that `code` calls is missing."""
    found = sorted({match.groups() for match in _OPERATOR.finditer(code) if not _TORCHS.fullmatch(match[1])})
    checks = (
        _CHECK.format(
            namespace=namespace,
            name=name,
            message=_missing(f"torch.ops.{namespace}.{name}", registered.get(f"{namespace}::{name}")),
        )
        for namespace, name in found
    )
    return "".join(checks)


def _missing(operator: str, source: OperatorSource | None) -> str:
    where = "where it is registered was not recorded" if source is None else f"registered at {source.place}"
    module = None if source is None else source.module
    if module is not None and module != "__main__" and _MODULE.fullmatch(module):
        what = f"put `import {module}` above this check, with its folder on PYTHONPATH"
    else:
        what = "put what registers it above this check"
    return f"{operator} is not an operator of torch's own ({where}): {what}"
