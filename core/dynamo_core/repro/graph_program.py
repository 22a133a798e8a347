"""A captured graph as plain data, the program of torch alone that it is, and its parts.

The graph is what Dynamo hands to a backend, before AOTAutograd, as torch writes it down: a straight line of
statements. What a statement reads and none before it gives becomes an input of the recorded shape.
"""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from ..analysis.graphs.program import index_ranges, placeholders_in, value_calls
from ..analysis.words import number
from ..model import Graph, Node, Symbol, TensorInfo
from ..shared.errors import NothingSelected
from ..shared.quick_dataclass import dataclass
from .failure import Failure
from .trials import Candidate

_BLOCKS = ("def ", "class ", "@")
_MATH = {"inf", "nan"}
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


@dataclass(frozen=True)
class Input:
    """An input: a tensor of random numbers changed by `calls`, or without `tensor` the text of a number.

    `saved` is the text of a value that the program has, in place of random numbers.
    """

    name: str
    tensor: TensorInfo | None
    calls: str = ""
    number: str = ""
    saved: str = ""


@dataclass(frozen=True)
class Statement:
    """A line of the graph, the names that it reads, and those that it gives values."""

    text: str
    reads: frozenset[str]
    binds: frozenset[str]


@dataclass(frozen=True)
class GraphProgram:
    """A graph and how it is run. `values` are the tensors that names stand for, where they are known.

    `prelude` are statements in front: the definition of a backend, which the first `backend_lines` are, and
    settings of torch. `backend` is the argument as text. With `gradients`, a backward follows, and gradients
    are compared; with `afterwards`, the inputs are compared after the call. `tolerance` is relative and
    absolute; None for torch's own. The `form` says what is asserted: equal values, no error or the same one.
    `load` is the text that loads the program's own values, which are known of the names in `saved`.
    """

    inputs: tuple[Input, ...]
    statements: tuple[Statement, ...]
    outputs: tuple[str, ...]
    values: Mapping[str, TensorInfo]
    prelude: tuple[str, ...] = ()
    backend_lines: int = 0
    backend: str = '"inductor"'
    gradients: bool = True
    afterwards: bool = True
    dynamic: bool = False
    strides: bool = False
    tolerance: float | None = None
    seed: int = 0
    form: Literal["values", "call", "raises"] = "values"
    note: str = ""
    load: str = ""
    saved: frozenset[str] = frozenset()

    @property
    def size(self) -> str:
        """How large it is, in words."""
        operations, inputs = len(self.statements), len(self.inputs)
        return f"{number(operations, 'operation')}, {number(inputs, 'input')}"

    def only(
        self, statements: Sequence[Statement], outputs: Sequence[str] | None = None
    ) -> "GraphProgram | None":
        """The part with these statements and outputs; None where nothing is left to give.

        What they read of the others becomes an input where it is a tensor; else they go, too.
        """
        known = {each.name: each for each in self.inputs}
        given: dict[str, Input] = {}
        kept: list[Statement] = []
        bound: set[str] = set()
        for statement in statements:
            free = statement.reads - bound
            made = {name: known.get(name) or self._input_for(name) for name in free}
            if any(each is None for each in made.values()):
                continue
            given.update({name: each for name, each in made.items() if each is not None})
            kept.append(statement)
            bound |= statement.binds
        wanted = self.outputs if outputs is None else outputs
        left = tuple(name for name in wanted if name in bound or name in given)
        left = left or _last_values(kept, self.values)
        ordered = [given[each.name] for each in self.inputs if each.name in given]
        ordered += [given[name] for name in given if name not in known]
        if not left or not kept:
            return None
        return replace(self, inputs=tuple(ordered), statements=tuple(kept), outputs=left)

    def _input_for(self, name: str) -> Input | None:
        """An input in place of a value; random integers are 0 and 1, which are often in range as indices."""
        tensor = self.values.get(name)
        if tensor is None:
            return None
        if name in self.saved:
            return Input(name, tensor, saved=saved_value(name))
        return Input(name, tensor, ".random_(0, 2)" if "int" in tensor.dtype else "")

    def until(self, count: int) -> "GraphProgram | None":
        """The part with the first statements, which gives all that is read behind them."""
        first = self.statements[:count]
        read = {name for each in self.statements[count:] for name in each.reads} | set(self.outputs)
        bound = {name for each in first for name in each.binds if name in self.values}
        outputs = [name for name in dict.fromkeys(_bound_in_order(first)) if name in bound & read]
        return self.only(first, outputs or _last_values(first, self.values))

    def with_all_values(self) -> "GraphProgram":
        """The graph that gives each of its values: what is wrong may not show at its end."""
        names = [name for name in _bound_in_order(self.statements) if name in self.values]
        return replace(self, outputs=tuple(dict.fromkeys(names)) or self.outputs)

    def with_values(self, integers: str, floats: str) -> "GraphProgram":
        """The graph with inputs whose random numbers these calls change; "" leaves them as they are."""

        def changed(each: Input) -> Input:
            if each.tensor is None or each.tensor.dtype == "bool":
                return each
            calls = integers if "int" in each.tensor.dtype else floats
            return replace(each, calls=calls or each.calls)

        return replace(self, inputs=tuple(map(changed, self.inputs)))

    def candidate(self) -> Candidate:
        """The texts to try."""
        return Candidate(self.text(), self._plain_text(), self.size)

    def text(self) -> str:
        """The program."""
        backend = f"torch.compile(f, backend={self.backend}{', dynamic=True' if self.dynamic else ''})"
        if self.backend == '"inductor"':
            backend = f"torch.compile(f{', dynamic=True' if self.dynamic else ''})"
        if self.form == "call":
            calls = f"run(f)  # plain Python runs it\nrun({backend}){self.note}\n"
            return f"{self._head()}\n\n{calls}"
        if self.form == "raises":
            return self._head() + _RAISES.format(compiled=backend)
        tolerance = "" if self.tolerance is None else f", rtol={self.tolerance:g}, atol={self.tolerance:g}"
        options = f"{tolerance}{', check_stride=True' if self.strides else ''}, equal_nan=True"
        return (
            f"{self._head()}\n\nexpected = run(f)\ngot = run({backend})\n"
            f"torch.testing.assert_close(got, expected{options})\n"
        )

    def _plain_text(self) -> str:
        """Passes where plain Python gives the same twice, and much the same in float64."""
        if self.form != "values":
            return self.text()
        tolerance = 1e-3 if self.tolerance is None else self.tolerance
        head = replace(self, afterwards=False)._head()
        return head + _TWICE + ("" if self.is_random else _EXACT.format(tolerance=tolerance))

    @property
    def is_random(self) -> bool:
        """Whether it draws random numbers, which it does otherwise in float64."""
        return any(_RANDOM.search(each.text) for each in self.statements)

    def _head(self) -> str:
        return "\n".join([*self.imports(), "", "", *self._function(), "", "", *self._run()]) + "\n"

    def imports(self) -> list[str]:
        """The lines in front of the function: imports, and the prelude."""
        words = {name for each in self.statements for name in re.findall(r"\w+", each.text)}
        lines = ["import operator"] if "operator" in words else []
        lines += ["import torch"]
        if "device" in words and any("device(" in each.text for each in self.statements):
            lines.append("from torch import device")
        lines += [f"{name} = float({name!r})" for name in sorted(_MATH & words)]
        for each in self.prelude:
            lines += ["", "", each] if each.startswith(_BLOCKS) else [each]
        return lines

    def _function(self) -> list[str]:
        names = ", ".join(each.name for each in self.inputs)
        results = ", ".join(self.outputs)
        is_one = len(self.outputs) == 1 and not self.gradients
        return [
            f"def f({names}):",
            *(f"    {each.text}" for each in self.statements),
            f"    return {results}" if is_one else f"    return ({results},)",
        ]

    def _run(self) -> list[str]:
        tensors = [_made(each) for each in self.inputs]
        lines = ["def run(function):", f"    torch.manual_seed({self.seed})"]
        lines += [f"    saved = {self.load}"] if any("saved[" in each for each in tensors) else []
        if not self.gradients and not self.afterwards:
            return [*lines, f"    return function({', '.join(tensors)})"]
        lines += [f"    values = [{', '.join(tensors)}]", "    results = function(*values)"]
        if self.gradients:
            lines.append("    sum((r * r).sum() for r in results if r.requires_grad).backward()")
        more = ["values"] if self.afterwards else []
        more += ["[v.grad for v in values if isinstance(v, torch.Tensor)]"] if self.gradients else []
        return [*lines, f"    return results, {', '.join(more)}"]


_RAISES = """

def error_of(function):
    try:
        run(function)
    except Exception as error:
        return type(error).__name__


expected = error_of(f)
got = error_of({compiled})
assert got == expected, f"{{got}} instead of {{expected}}"
"""
_RANDOM = re.compile(r"dropout|rand|bernoulli|normal_|multinomial|uniform_|exponential_")
_TWICE = """

first = run(f)
torch.testing.assert_close(run(f), first, equal_nan=True)
"""
_EXACT = """

def exact(*values):
    return f(*[v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v for v in values])


try:
    wanted = run(exact)
except Exception:
    wanted = first
torch.testing.assert_close(
    first, wanted, rtol={tolerance:g}, atol={tolerance:g}, equal_nan=True, check_dtype=False
)
"""


def captured_program(graph: Graph, symbols: Sequence[Symbol]) -> GraphProgram:
    """The program of a recorded graph; NothingSelected says what is missing for it."""
    if graph.code is None:
        raise NothingSelected(f"graph {graph.number}: its code was not recorded")
    try:
        body = _forward_of(graph.code)
    except (SyntaxError, StopIteration) as error:
        raise NothingSelected(f"graph {graph.number}: its code is no module") from error
    nodes = graph.nodes or ()
    hints = {each.name: each.hint for each in symbols}
    placeholders = _placeholders(graph)
    given = {each.target: each.name for each in placeholders}
    values = {each.name: tensor for each in nodes if (tensor := _tensor(each, hints)) is not None}
    values.update({each.name: tensor for each in placeholders if (tensor := _tensor(each, hints))})
    outputs, statements = _statements(body, given)
    if any("_functorch." in each.text for each in statements):
        raise NothingSelected(f"graph {graph.number} has transforms of torch.func, which cannot be cut")
    constants = _constants(nodes, values, statements)
    missing = [
        each.text for each in statements if "self." in each.text and not each.binds <= constants.keys()
    ]
    if missing:
        raise NothingSelected(
            f"graph {graph.number} uses what only its program has: {missing[0].partition('self.')[2][:60]}"
        )
    ranges = index_ranges(nodes)
    inputs = [_input(each, hints, ranges) for each in placeholders] + list(constants.values())
    statements = [each for each in statements if not each.binds & constants.keys()]
    trains = bool(graph.trains) and any(each.tensor and each.tensor.requires_grad for each in inputs)
    whole = GraphProgram(
        inputs=tuple(inputs),
        statements=tuple(statements),
        outputs=tuple(name for name in outputs if name in values),
        values=values,
        prelude=(*_imported(nodes, graph.code), *_modes(graph)),
        gradients=trains,
        dynamic=any(isinstance(size, str) for each in placeholders for size in _dimensions(each)),
    )
    found = whole.only(statements)
    if found is None:
        raise NothingSelected(f"graph {graph.number} has no operation, or gives no tensor")
    return found


def _placeholders(graph: Graph) -> Sequence[Node]:
    found = [each for each in graph.nodes or () if each.op == "placeholder"]
    return found or placeholders_in(graph.code or "")


def arguments_of(graph: Graph) -> list[str]:
    """The names of a graph's arguments, in the order of a call."""
    return [each.name for each in _placeholders(graph)]


def _forward_of(code: str) -> list[ast.stmt]:
    module = next(each for each in ast.parse(code).body if isinstance(each, ast.ClassDef))
    forward = next(each for each in module.body if isinstance(each, ast.FunctionDef))
    return forward.body


def _statements(body: Iterable[ast.stmt], given: Mapping[str, str]) -> tuple[list[str], list[Statement]]:
    """The names that are returned, and the statements, without those that only end a name's life."""
    outputs: list[str] = []
    found = []
    for each in body:
        if isinstance(each, ast.Return):
            outputs = [one.id for one in ast.walk(each) if isinstance(one, ast.Name)]
            continue
        if isinstance(each, ast.AnnAssign) and each.value is not None:
            each = ast.Assign([each.target], each.value)
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant) and each.value.value is None:
            continue
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Name) and each.value.id in given:
            continue  # `l_x_ = L_x_`
        found.append(statement_of(each))
    return list(dict.fromkeys(outputs)), found


def statement_of(node: ast.stmt) -> Statement:
    """A statement with what it reads and binds."""
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    binds = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    reads = {each.id for each in names if isinstance(each.ctx, ast.Load)} - _GLOBAL
    reads |= binds if isinstance(node, ast.AugAssign) else set()
    reads = {name for name in reads if not _is_imported(name)}
    return Statement(ast.unparse(ast.fix_missing_locations(node)), frozenset(reads), frozenset(binds))


_GLOBAL = {"torch", "operator", "device", "inf", "nan", "self", "True", "False", "None"}
_BUILTINS = frozenset(("slice", "getattr", "int", "float", "bool", "tuple", "list", "max", "min", "round"))


def _is_imported(name: str) -> bool:
    return name in _BUILTINS or name.startswith(("math_", "operator_", "torch_", "builtins_"))


def _imported(nodes: Iterable[Node], code: str) -> Iterable[str]:
    """Imports for functions that are not torch's: torch.fx writes `math.sqrt` as `math_sqrt`."""
    words = set(re.findall(r"\w+", code))
    for target in sorted({node.target for node in nodes if node.op == "call_function"}):
        if _DOTTED.fullmatch(target) and _is_imported(target.replace(".", "_")):
            alias = target.replace(".", "_")
            if alias in words:
                yield f"import {target.partition('.')[0]}; {alias} = {target}"


def _modes(graph: Graph) -> Iterable[str]:
    """The settings of torch under which the graph was compiled, where they are not those of a new process."""
    modes = graph.modes
    if modes is None:
        return
    if not modes.grad_enabled:
        yield "torch.set_grad_enabled(False)"
    for kind, dtype in modes.autocast.items():
        yield f'torch.set_autocast_dtype("{kind}", torch.{dtype}); torch.set_autocast_enabled("{kind}", True)'
    if modes.float32_matmul_precision not in (None, "highest"):
        yield f"torch.set_float32_matmul_precision({modes.float32_matmul_precision!r})"
    if modes.default_dtype not in (None, "float32"):
        yield f"torch.set_default_dtype(torch.{modes.default_dtype})"


def _constants(
    nodes: Iterable[Node], values: Mapping[str, TensorInfo], statements: Iterable[Statement]
) -> dict[str, Input]:
    """Inputs in place of the module's tensors, which are read as attributes of it."""
    is_read = {name for each in statements if "self." in each.text for name in each.binds}
    return {
        each.name: Input(each.name, values[each.name])
        for each in nodes
        if each.op == "get_attr" and each.name in values and each.name in is_read
    }


def _dimensions(node: Node) -> list[int | str]:
    return [size for tensor in node.tensors for size in tensor.shape] + (
        [node.symbol] if node.symbol is not None else []
    )


def _tensor(node: Node, hints: Mapping[str, str]) -> TensorInfo | None:
    """The tensor of a node with numbers for its symbolic sizes; None where it is no single tensor."""
    if len(node.tensors) != 1 or node.symbol is not None:
        return None
    tensor = node.tensors[0]
    shape = tuple(_number(size, hints) for size in tensor.shape)
    stride = None if tensor.stride is None else tuple(_number(size, hints) for size in tensor.stride)
    if not tensor.dtype.isidentifier() or None in shape or (stride is not None and None in stride):
        return None
    return replace(tensor, shape=shape, stride=stride)  # type: ignore[arg-type]


def _number(size: int | str, hints: Mapping[str, str]) -> int | None:
    """A size as a number; None for an expression of symbols whose values are not known."""
    if isinstance(size, int):
        return size
    text = re.sub(r"\b[sui]\d+\b", lambda symbol: hints.get(symbol[0], symbol[0]), size)
    if not re.fullmatch(r"[\d\s+\-*/()]{1,100}", text) or "**" in text:
        return None
    try:
        return int(eval(text, {"__builtins__": {}}))  # digits and signs alone
    except (ArithmeticError, SyntaxError, TypeError):
        return None


def _input(node: Node, hints: Mapping[str, str], ranges: Mapping[str, int]) -> Input:
    if node.symbol is not None and not node.tensors:
        return Input(node.name, None, number=hints.get(node.symbol, "2"))
    tensor = _tensor(node, hints)
    return Input(node.name, tensor, value_calls(node, ranges) if tensor else "", "None")


def saved_value(name: str) -> str:
    """The text of a value that was loaded."""
    return f"saved[{name!r}]"


def _last_values(statements: Sequence[Statement], values: Mapping[str, TensorInfo]) -> tuple[str, ...]:
    names = [name for name in _bound_in_order(statements) if name in values]
    return tuple(names[-1:])


def _bound_in_order(statements: Iterable[Statement]) -> list[str]:
    return [name for each in statements for name in sorted(each.binds)]


def is_contiguous(tensor: TensorInfo) -> bool:
    """Whether the strides of a tensor of known sizes are those of a new one."""
    wanted = 1
    for size, stride in zip(reversed(tensor.shape), reversed(tensor.stride or ()), strict=False):
        if size != 1 and stride != wanted:
            return False
        wanted *= max(int(size), 1)
    return True


def _made(each: Input) -> str:
    """The text that makes an input."""
    tensor = each.tensor
    if tensor is None:
        return each.number
    gradient = ".requires_grad_()" if tensor.requires_grad else ""
    if each.saved:
        return each.saved + gradient
    shape = [int(size) for size in tensor.shape]
    elsewhere = "" if tensor.device == "cpu" else f', device="{_safe(tensor.device)}"'
    is_dense = tensor.stride is None or is_contiguous(tensor)
    strides = [int(stride) for stride in tensor.stride or ()]
    length = 0 if 0 in shape else 1 + sum((s - 1) * t for s, t in zip(shape, strides, strict=False))
    sizes = shape if is_dense else [length]
    text = _new(sizes, tensor.dtype, each.calls, elsewhere)
    if not is_dense:
        text += f".as_strided({tuple(shape)}, {tuple(strides)})"
    return text + gradient


def _new(sizes: Sequence[int], dtype: str, calls: str, elsewhere: str) -> str:
    shape = ", ".join(map(str, sizes)) or "()"
    bounds = re.search(r"\.random_\((-?\d+), (\d+)\)", calls)
    if "int" in dtype or dtype == "bool":
        kind = "" if dtype == "int64" else f", dtype=torch.{dtype}"
        size = f"({shape},)" if len(sizes) == 1 else f"({shape})" if sizes else "()"
        low, high = (bounds[1], bounds[2]) if bounds else ("0", "2" if dtype == "bool" else "1")
        return f"torch.randint({'' if low == '0' else f'{low}, '}{high}, {size}{kind}{elsewhere})"
    kind = "" if dtype == "float32" else f", dtype=torch.{dtype}"
    return f"torch.randn({shape}{kind}{elsewhere})" + calls


def _safe(text: str) -> str:
    return text if re.fullmatch(r"\w+(:\d+)?", text) else "cpu"


def with_failure(program: GraphProgram, failure: Failure) -> GraphProgram:
    """The program as it is written for its failure: a comparison, or a call that raises or crashes."""
    return program if failure.kind == "wrong result" else replace(program, form="call")
