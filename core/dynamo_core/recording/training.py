"""Forward and backward graphs of AOTAutograd, from our records or torch's text; optimizers; gradients."""

import ast
import operator
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import Any, NamedTuple

from ..model import AotPair, Process, SavedTensor
from ..shared.aot_pair import GETITEM, AotGraph, AotNode, graphs_paired, shares_memory
from ..shared.conversion import from_fields
from ..shared.early_records import GradientExchange, Optimizer
from ..shared.quick_dataclass import dataclass
from ..shared.records import GraphsPaired
from .compile_context import CompileContext
from .graphs import GraphBuilder
from .structured import Handler, place_of, reads, structured, tensors_of
from .trace_format import Damaged, Record

# AOTAutograd's graphs as torch's text, used where no record of ours has them: cache hits, plain traces.
#
# Source: torch/fx/graph.py (CodeGen._gen_python_code) and graph_module.py (print_readable). A node is a line
# `name: "f32[4, 8][8, 1]cpu" = torch.ops.aten.mm.default(a, b);  a = None`, under one with the user's line.
# Read in 2.8 to 2.15; from 2.13 on, each argument and result of a forward or backward has a line of its own.

# Requested in `contents`: pairs from these texts, where there are no records of ours. In a plain trace that
# is all of them, and takes longer than the rest: so the second one requests them in our recordings alone.
AOT_PAIRS_FROM_TEXT = "pairs from text"
AOT_PAIRS_FROM_OUR_TEXT = "pairs from text in recordings of ours"
_JOINT, _FORWARD, _BACKWARD = AOT_TEXTS = ("aot_joint_graph", "aot_forward_graph", "aot_backward_graph")

_ARGUMENT = re.compile(r'(\w+)(?:: "([^"\n]*)")?')
_PLACE = re.compile(r"# (?:Backward of forward node: )?File: (.+):(\d+) in ")  # and the function
_OPERATORS = "torch.ops."
_FUNCTION = re.compile(r"([A-Za-z_][\w.]*)\(")
_SIGN = re.compile(r"[\w.]+ ([-+*/%<>=!]+) ")
_WORD = re.compile(r"[A-Za-z_]\w*")
_TENSOR = re.compile(r"(\w+)\[([^\]]*)\](?:\[[^\]]*\])?(\S*)")
_SYMBOL = re.compile(r"Sym\((.*)\)")
# How torch.fx writes Python's operators (torch/fx/graph.py: magic_methods).
_SIGNS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "//": "floordiv",
    "/": "truediv",
    "%": "mod",
    "**": "pow",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "==": "eq",
    "!=": "ne",
}
# The dtypes that torch/utils/_dtype_abbrs.py abbreviates, and how many bytes an element has.
_DTYPES = {
    "bf16": ("bfloat16", 2),
    "f64": ("float64", 8),
    "f32": ("float32", 4),
    "f16": ("float16", 2),
    "c32": ("complex32", 4),
    "c64": ("complex64", 8),
    "c128": ("complex128", 16),
    "i8": ("int8", 1),
    "i16": ("int16", 2),
    "i32": ("int32", 4),
    "i64": ("int64", 8),
    "b8": ("bool", 1),
    "u8": ("uint8", 1),
    "u16": ("uint16", 2),
    "u32": ("uint32", 4),
    "u64": ("uint64", 8),
}
_LONGEST_SIZE = 200  # characters of an expression
_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}

Text = Callable[[], str | None]


class TextsOfPair(NamedTuple):
    """The texts of the graphs that AOTAutograd made of one."""

    joint: str | None
    forward: str
    backward: str


class AotTexts:
    """Collects the texts of pairs in their order: joint, forward, backward. Loads only what is needed."""

    def __init__(self) -> None:
        self._joint: Text | None = None
        self._forward: Text | None = None
        self._known: set[str] = set()

    def expect_texts_of_pair(self) -> None:
        """Skip the next forward and backward: their pair is known from a record of ours."""
        self._joint = None
        self._known = {_FORWARD, _BACKWARD}

    def add(self, name: str, text: Text) -> TextsOfPair | None:
        """Take the text of a record; returns the texts of the pair that it completes, if any."""
        if name in self._known:
            self._known.remove(name)
        elif name == _JOINT:
            self._joint, self._forward = text, None
        elif name == _FORWARD:
            self._forward = text
        elif self._forward is not None:
            joint, forward = self._joint, self._forward
            self._joint = self._forward = None
            return TextsOfPair(joint and joint(), forward() or "", text() or "")
        return None


def pair_record(texts: TextsOfPair, hints: Mapping[str, str]) -> GraphsPaired:
    """The record of a pair, made from its texts.

    `hints` are the values of symbolic sizes with which it was compiled.
    """
    first = parse_aot_graph(texts.forward)

    def describe(name: str) -> dict[str, Any]:
        return _described(first.annotations.get(name), hints) | first.places.get(name, {})

    operators = None if texts.joint is None else parse_aot_graph(texts.joint).graph().operators()
    return graphs_paired(None, operators, first.graph(), parse_aot_graph(texts.backward).graph(), describe)


@dataclass
class AotText:
    """A graph parsed from its text."""

    placeholders: list[str] = field(default_factory=list)
    nodes: list[AotNode] = field(default_factory=list)
    outputs: list[str | None] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    places: dict[str, dict[str, Any]] = field(default_factory=dict)

    def graph(self) -> AotGraph:
        """The graph as `graphs_paired` takes it."""
        return AotGraph(tuple(self.placeholders), tuple(self.nodes), tuple(self.outputs))


def parse_aot_graph(text: str) -> AotText:
    """The graph that is written as the `forward` of the first module in `text`."""
    found = AotText()
    lines = iter(text.splitlines())
    signature = ""
    for line in lines:
        if signature or line.lstrip().startswith("def forward("):
            signature += _without_note(line).strip()
            if signature.endswith("):"):
                break
    for name, annotation in _ARGUMENT.findall(signature.partition("(")[2]):
        if name != "self":
            found.placeholders.append(name)
            found.annotations[name] = annotation
    place: dict[str, Any] = {}
    for line in lines:
        stripped = line.strip()
        if stripped.startswith("return "):
            found.outputs = _returned([stripped.removeprefix("return "), *lines])
            break
        if stripped.startswith("#"):
            at = _PLACE.match(stripped.partition(", code: ")[0])
            place = {"file": at[1], "line": int(at[2])} if at else {}
            continue
        head, _, expression = stripped.partition(" = ")
        name, _, annotation = head.partition(': "')
        if not (expression and name.isidentifier()):
            continue
        operator = _operator(expression)
        found.nodes.append(
            AotNode(name, operator, _first_input(expression) if shares_memory(operator) else ())
        )
        found.annotations[name] = annotation.removesuffix('"')
        found.places[name] = place
    return found


def _without_note(line: str) -> str:
    return line.partition("  # ")[0]


def _returned(lines: list[str]) -> list[str | None]:
    """The names in `(a, None, b)`, on one or several lines; the lines after it are of another module."""
    names: list[str | None] = []
    for line in lines:
        text = _without_note(line).strip()
        if not text:
            break
        names += [None if word == "None" else word for word in _WORD.findall(text)]
        if text.endswith((")", "]")) and not text.endswith(("()", "[]")):
            break
    return names


def _first_input(expression: str) -> tuple[str, ...]:
    """The first input: `(x,)` for `torch.ops.aten.view.default(x, [8])` and for `x[0]`."""
    found = _WORD.match(expression.partition("(")[2] or expression)
    return () if found is None else (found[0],)


def _operator(expression: str) -> str | None:
    """The operator of an expression: `aten.mm`, `operator.getitem`; None for an attribute of the module."""
    if expression.startswith(_OPERATORS):
        return ".".join(expression.partition("(")[0].split(".")[2:4])
    sign = _SIGN.match(expression)
    if sign:
        return f"operator.{_SIGNS.get(sign[1], sign[1])}"
    called = _FUNCTION.match(expression)
    if called:
        return called[1]
    return GETITEM if expression.partition(";  ")[0].endswith("]") else None


def _described(annotation: str | None, hints: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a tensor `f32[4, s27][s27, 1]cpu`, or of a size `Sym(s27)`."""
    symbol = _SYMBOL.fullmatch(annotation or "")
    if symbol:
        return {"symbol": symbol[1], "bytes": None}
    tensor = _TENSOR.fullmatch(annotation or "")
    if tensor is None:
        return {"bytes": None}
    dtype, element = _DTYPES.get(tensor[1], (tensor[1], None))
    shape = [int(size) if size.isdecimal() else size for size in tensor[2].split(", ") if size]
    bytes_ = element
    for size in shape:
        value = size if isinstance(size, int) else _value_of(size, hints)
        bytes_ = None if bytes_ is None or value is None else bytes_ * value
    return {"shape": shape, "dtype": dtype, "device": tensor[3], "bytes": bytes_}


def _value_of(expression: str, hints: Mapping[str, str]) -> int | None:
    """The value of `4*s27` with the hints; None for what is not sums and products of known symbols."""
    if len(expression) > _LONGEST_SIZE:
        return None
    try:
        return _evaluated(ast.parse(expression, mode="eval").body, hints)
    except (SyntaxError, ValueError, KeyError, ZeroDivisionError, RecursionError):
        return None


def _evaluated(node: ast.expr, hints: Mapping[str, str]) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        return int(hints[node.id])
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_evaluated(node.left, hints), _evaluated(node.right, hints))
    raise ValueError(f"not a size: {ast.dump(node)}")


_LONGEST_CACHED = 1 << 20  # characters of a pair's texts


class PairBuilder:
    """Fills `pairs`, `optimizers` and `gradient_exchanges` of a process."""

    def __init__(
        self, process: Process, context: CompileContext, graphs: GraphBuilder, contents: Container[str]
    ) -> None:
        self._process = process
        self._context = context
        self._graphs = graphs
        self._contents = contents
        self._aot_texts = AotTexts()

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {
            GraphsPaired.NAME: self._aot_pair,
            Optimizer.NAME: reads(Optimizer, self._process.optimizers.append),
            GradientExchange.NAME: reads(GradientExchange, self._process.runtime.gradient_exchanges.append),
        }

    def takes_text(self, name: str) -> bool:
        """Whether pairs are to be read from the texts of this name."""
        pairs = AOT_PAIRS_FROM_OUR_TEXT if self._process.is_ours else AOT_PAIRS_FROM_TEXT
        return name in AOT_TEXTS and (pairs in self._contents or AOT_PAIRS_FROM_TEXT in self._contents)

    def add_text(self, record: Record, name: str) -> None:
        """Take a text of AOTAutograd: pairs from a cache, or in a plain trace, have no record of ours."""
        hints = self._graphs.hints(self._context.id_of(record))
        texts = self._aot_texts.add(name, record.payload)
        if texts is not None:
            self._add_pair(pair_of_texts(texts, hints), record)

    def _aot_pair(self, record: Record) -> None:
        self._aot_texts.expect_texts_of_pair()
        paired = structured(GraphsPaired, record)
        for counts in (paired.joint or {}, paired.forward, paired.backward, paired.recomputed):
            if any(count < 1 for count in counts.values()):
                raise Damaged("an operator that is there, but not once")
        self._add_pair(_pair(paired), record)

    def _add_pair(self, pair: AotPair, record: Record) -> None:
        compile_id, attempt = self._context.id_of(record), record.metadata.get("attempt", 0)
        self._process.pairs.append(replace(pair, compile_id=compile_id, attempt=attempt))


def pair_of_texts(texts: TextsOfPair, hints: Mapping[str, str]) -> AotPair:
    """The pair in its texts, with the values of symbolic sizes."""
    is_short = sum(map(len, filter(None, texts))) <= _LONGEST_CACHED
    return (_cached_pair if is_short else _cached_pair.__wrapped__)(texts, frozenset(hints.items()))


@lru_cache(64)  # repeated layers, and both sides of a comparison, have the same texts
def _cached_pair(texts: TextsOfPair, hints: frozenset[tuple[str, str]]) -> AotPair:
    return _pair(pair_record(texts, dict(hints)))


def _pair(paired: GraphsPaired) -> AotPair:
    """The pair of a record, without its compile id."""
    return from_fields(AotPair, paired, compile_id=None, attempt=0, saved=tuple(map(_saved, paired.saved)))


def _saved(content: Mapping[str, Any]) -> SavedTensor:
    return SavedTensor(
        name=content["name"],
        kind=content["kind"],
        operator=content["operator"],
        tensor=next(iter(tensors_of(content)), None),
        symbol=content.get("symbol"),
        bytes=content["bytes"],
        storage=content["storage"],
        storage_bytes=content["storage_bytes"],
        place=place_of(content),
    )
