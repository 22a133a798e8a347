"""Generate a program that runs a Dynamo graph, eagerly and compiled, on made-up inputs of recorded shapes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod, sqrt

from ...model import Graph, Node, Symbol, TensorInfo
from ...shared import names
from ...shared.errors import NothingSelected
from .nodes import checks_of_operators, dtype_of

# The values of the inputs, as the user's data is not recorded.
#
# Numbers from a normal distribution would do to measure time, but not to compare results: deep networks of
# such weights overflow, indices must be in range, and a variance must not be negative.

_FLOATS = ("float64", "float32", "float16", "bfloat16")
_INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
# Operators that an index may pass through, unchanged, before the operator that uses it.
_SHAPE_ONLY = ("flatten", "view", "reshape", "contiguous", "squeeze", "unsqueeze", "transpose", "permute")
_SAME_VALUES = frozenset((*_SHAPE_ONLY, "getitem", "clone", "detach", "long", "int"))
# Operators that take indices: the position of the indices, of the table, and the indexed dimension of the
# table.
_LOOKUPS = {"embedding": (0, 1, 0), "cross_entropy": (1, 0, 1), "nll_loss": (1, 0, 1)}


def value_calls(node: Node, ranges: Mapping[str, int]) -> str:
    """Method calls that make values for this input of a tensor of random numbers (of zeros, for integers)."""
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
        # Layers are initialised in this way: activations keep their magnitude.
        return f".div_({sqrt(prod(sizes)):.4g})"
    return ""


def index_ranges(nodes: Sequence[Node]) -> dict[str, int]:
    """The size of the indexed dimension for each input that is an index, by its name."""
    by_name = {node.name: node for node in nodes}
    ranges: dict[str, int] = {}
    for node in nodes:
        lookup = _LOOKUPS.get(_short(node.target)) if node.op == "call_function" else None
        if lookup is None or len(node.inputs) < 2:
            continue
        indices, table, dimension = lookup
        origin = _origin(node.inputs[indices], by_name)
        sizes = _sizes_of(by_name.get(node.inputs[table]))
        if origin is not None and sizes:
            size = sizes[min(dimension, len(sizes) - 1)]
            if isinstance(size, int):
                ranges[origin] = min(size, ranges.get(origin, size))
    return ranges


def _origin(name: str, by_name: Mapping[str, Node]) -> str | None:
    """The placeholder from which a node has its values, if only their shape or type was changed."""
    node = by_name.get(name)
    while node is not None and node.op != "placeholder":
        if _short(node.target) not in _SAME_VALUES or not node.inputs:
            return None
        node = by_name.get(node.inputs[0])
    return None if node is None else node.name


def _short(target: str) -> str:
    return target.rpartition(".")[2]


def _sizes_of(node: Node | None) -> Sequence[int | str]:
    return node.tensors[0].shape if node is not None and node.tensors else ()


def _overlaps(tensor: TensorInfo) -> bool:
    """Whether several elements share memory, so that they cannot be changed in place."""
    return tensor.stride is None or any(stride == 0 for stride in tensor.stride)


def symbolic_dimensions(placeholders: Iterable[Node]) -> dict[str, tuple[int, ...]]:
    """The indices of the symbolic dimensions of each input, by its name; empty for a symbolic number."""
    found: dict[str, tuple[int, ...]] = {}
    for node in placeholders:
        sizes = _sizes_of(node)
        symbolic = tuple(i for i, size in enumerate(sizes) if isinstance(size, str))
        if symbolic or (node.symbol is not None and not node.tensors):
            found[node.name] = symbolic
    return found


# The program.

CONTENTS = frozenset({names.FX_GRAPH, "dynamo_output_graph"})  # what must be read of a recording for it
# Backends that torch registers itself, so that they are there without the user's program.
_BACKENDS = ("inductor", "eager", "aot_eager", "aot_eager_decomp_partition", "cudagraphs")
_UNKNOWN_SIZE = "2  # not recorded: choose one that fits"
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?|True|False")
_EXPRESSION = re.compile(r"[\w\s+\-*/().,]*")
_SYMBOL = re.compile(r"\b[a-z]{1,2}\d+\b")
_WORD = re.compile(r"\w+")
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
_CLASS = re.compile(r"\bclass (\w+)\(torch\.nn\.Module\)")
_ATTRIBUTE = re.compile(r"\bself\.(\w+)")
_SIGNATURE = re.compile(r"def forward\(\s*self\b,?")
_END_OF_SIGNATURE = re.compile(r"\)\s*:\s*$", re.MULTILINE)
_PARAMETER = re.compile(r'\b(\w+)\b\s*(?::\s*("[^"]*"|[\w.]+)\s*)?(?:,|$)')
# `"f32[s77, 4][4, 1]cpu"`, in older traces `"f32[s77, 4]"`; `"Sym(s77)"`.
_TENSOR = re.compile(r'"(\w+)\[([^\]]*)\](?:\[([^\]]*)\]\s*([\w:]+))?"')
_SYMBOLIC = re.compile(r'"Sym\(([^"]*)\)"')
_MOST_DIGITS = 19  # of a size; torch writes no longer number
# Functions of symbolic sizes as sympy spells them.
_SYMPY = {"Max": "max", "Min": "min", "FloorDiv": "operator.floordiv", "Mod": "operator.mod"}

_PROGRAM = '''\
"""{title}.

Written by dynamo from the graph that Dynamo captured: runs it eagerly and compiled, on numbers made up for
the recorded shapes (integers are indices in range where they are looked up, else zeros), and compares. Its
argument names another backend.
"""

import operator
import sys
from math import inf, nan

import torch
from torch import device
from torch._dynamo.testing import rand_strided
{imports}{checks}
{code}

{symbols}
def inputs():
    values = [
{inputs}
    ]
{marks}    return values


def module():
    made = with_subgraphs({name}())
{constants}    return made


def with_subgraphs(made):
    """Bodies of higher-order operators are classes in the class; the operators want graph modules."""
    for name, value in list(vars(type(made)).items()):
        if isinstance(value, type) and issubclass(value, torch.nn.Module):
            made.__dict__[name] = torch.fx.symbolic_trace(with_subgraphs(value()))
    return made


def outputs(function):
    torch.manual_seed(0)
    results = function(*inputs())
    return [value for value in torch.utils._pytree.tree_leaves(results) if isinstance(value, torch.Tensor)]


if __name__ == "__main__":
    backend = sys.argv[1] if len(sys.argv) > 1 else {backend!r}
    torch._inductor.config.fallback_random = True  # the random numbers that eager draws
    eager = outputs(module())
    compiled = outputs(torch.compile(module(), backend=backend))
    torch.testing.assert_close(compiled, eager, rtol=1e-3, atol=1e-4, equal_nan=True)
    print(f"{{len(eager)}} outputs: eager and {{backend}} agree")
'''


def generated_program(graph: Graph, symbols: Sequence[Symbol], title: str) -> str:
    """The program for a graph; raises NothingSelected if something is missing for it."""
    if graph.code is None:
        raise NothingSelected(f"graph {graph.number} cannot be run: its code was not recorded")
    name = _CLASS.search(graph.code)
    if name is None:
        raise NothingSelected(f"graph {graph.number} cannot be run: its code is no module")
    nodes = graph.nodes or ()
    placeholders = (
        placeholders_in(graph.code)
        if graph.nodes is None
        else [node for node in nodes if node.op == "placeholder"]
    )
    constants = {
        node.target: node
        for node in nodes
        if node.op == "get_attr" and node.tensors and node.target.isidentifier()
    }
    without_comments = re.sub(r"#.*", "", graph.code)  # comments quote the user's lines
    missing = sorted({*_ATTRIBUTE.findall(without_comments)} - {*_CLASS.findall(graph.code), *constants})
    if missing:
        raise NothingSelected(
            f"graph {graph.number} cannot be run: it uses modules or tensors of the program, which are not "
            f"recorded: {', '.join(missing[:3])}"
        )
    ranges = index_ranges(nodes)
    return _PROGRAM.format(
        title=title.replace("\\", "/").replace('"""', "'''"),
        imports="".join(f"{line}\n" for line in _imports(nodes, graph.code)),
        checks=checks_of_operators(without_comments, graph.custom_operators),
        code=graph.code.rstrip(),
        symbols="".join(f"{line}\n" for line in _symbols([*placeholders, *constants.values()], symbols))
        + "\n",
        inputs="\n".join(f"        {_value(node, ranges)},  # {_comment(node)}" for node in placeholders),
        marks="".join(f"    {line}\n" for line in _marks(placeholders)),
        name=name[1],
        constants="".join(
            f"    made.{name} = {_tensor(node.tensors[0])}\n" for name, node in constants.items()
        ),
        backend=graph.backend if graph.backend in _BACKENDS else "inductor",
    )


def placeholders_in(code: str) -> list[Node]:
    """The inputs of a graph whose nodes were not recorded, from the annotations in its readable code."""
    begin = _SIGNATURE.search(code)
    end = _END_OF_SIGNATURE.search(code, begin.end()) if begin is not None else None
    found = (
        _PARAMETER.findall(code[begin.end() : end.start()]) if begin is not None and end is not None else []
    )
    return [_placeholder(name, annotation) for name, annotation in found]


def _placeholder(name: str, annotation: str) -> Node:
    tensor, symbol = _TENSOR.fullmatch(annotation), _SYMBOLIC.fullmatch(annotation)
    if tensor is None and symbol is None:
        raise NothingSelected(f"the graph cannot be run: what its input {name} is was not recorded")
    tensors: tuple[TensorInfo, ...] = ()
    if tensor is not None:
        dtype, shape, stride, device = tensor.groups()
        strides = None if stride is None else _sizes(stride)
        tensors = (TensorInfo(_sizes(shape), strides, dtype_of(dtype), device or "cpu"),)
    symbol_text = symbol[1] if symbol is not None else None
    return Node("placeholder", name, name, "()", "{}", (), tensors, symbol_text)


def _sizes(text: str) -> tuple[int | str, ...]:
    sizes = (size.strip() for size in text.split(",") if size.strip())
    return tuple(int(size) if size.isdecimal() and len(size) < _MOST_DIGITS else size for size in sizes)


def _imports(nodes: Iterable[Node], code: str) -> Iterator[str]:
    """Imports for functions that are not torch's: torch.fx writes `math.sqrt` as `math_sqrt`."""
    words = set(_WORD.findall(code))
    for target in sorted({node.target for node in nodes if node.op == "call_function"}):
        alias = target.replace(".", "_")
        if _DOTTED.fullmatch(target) and alias in words:
            yield f"import {target.rpartition('.')[0]}"
            yield f"{alias} = {target}"


def _symbols(nodes: Iterable[Node], symbols: Sequence[Symbol]) -> Iterator[str]:
    """Assignments of the symbolic sizes of the inputs, with the values at the time of the compile."""
    hints = {symbol.name: symbol for symbol in symbols}
    texts = [_dimensions_text(node) for node in nodes]
    for function, meaning in _SYMPY.items():
        if any(re.search(rf"\b{function}\(", text) for text in texts):
            yield f"{function} = {meaning}"
    for name in dict.fromkeys(found for text in texts for found in _SYMBOL.findall(text)):
        symbol = hints.get(name)
        if symbol is not None and _NUMBER.fullmatch(symbol.hint):
            yield f"{name} = {symbol.hint}  # {' '.join(symbol.source.split())}, as met when compiling"
        else:
            yield f"{name} = {_UNKNOWN_SIZE}"


def _dimensions_text(node: Node) -> str:
    dimensions = [size for tensor in node.tensors for size in (*tensor.shape, *(tensor.stride or ()))]
    return " ".join(map(str, [node.symbol or "", *dimensions]))


def _marks(placeholders: Sequence[Node]) -> Iterator[str]:
    """Calls that make the same dimensions and numbers dynamic; numbers are named by their Dynamo source.

    Source: torch/_dynamo/variables/builder.py (is_dynamic_source), 2.8 to 2.15.
    """
    symbolic = symbolic_dimensions(placeholders)
    for i, node in enumerate(placeholders):
        if symbolic.get(node.name):
            dimensions = ", ".join(map(str, symbolic[node.name]))
            yield f"torch._dynamo.maybe_mark_dynamic(values[{i}], [{dimensions}])"
    numbers = [f"L['{name}']" for name, dimensions in symbolic.items() if not dimensions]
    if numbers:
        yield f'torch.compiler.config.dynamic_sources = "{",".join(numbers)}"'


def _value(node: Node, ranges: Mapping[str, int]) -> str:
    if node.tensors:
        return _tensor(node.tensors[0], value_calls(node, ranges))
    return _expression(node.symbol) if node.symbol is not None else "None"


def _tensor(tensor: TensorInfo, changed: str = "") -> str:
    dtype = tensor.dtype if tensor.dtype.isidentifier() else "float32"
    shape, device = _tuple(tensor.shape), repr(tensor.device)
    if tensor.stride is None:
        text = f"torch.zeros({shape}, dtype=torch.{dtype}, device={device})"
    else:
        text = f"rand_strided({shape}, {_tuple(tensor.stride)}, torch.{dtype}, {device})"
    return text + changed + (".requires_grad_()" if tensor.requires_grad else "")


def _tuple(sizes: Iterable[int | str]) -> str:
    parts = [_expression(str(size)) for size in sizes]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _expression(text: str) -> str:
    """A symbolic size as Python; 1 for text that is no expression, which a foreign recording may hold."""
    return text if _EXPRESSION.fullmatch(text) and "\n" not in text else "1"


def _comment(node: Node) -> str:
    source = f" = {node.source}" if node.source else ""
    missing = "" if node.tensors or node.symbol is not None else ": its value is not recorded"
    return " ".join(f"{node.name}{source}{missing}".split())
