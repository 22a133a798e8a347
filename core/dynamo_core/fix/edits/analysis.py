"""What code does, from its syntax tree alone: data flow of names, effects, and how a function is compiled.

Nothing is executed. Data flow uses Python's `ast`, the other analyses libcst.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

import libcst as cst

from ...shared.quick_dataclass import dataclass
from .source import Put, Source, alone_in, called_name, contains, dotted, names_in, nodes, torch_name

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass
class Flow:
    """The data flow of statements: names they `read` from before, and names they assign.

    `definite` names are assigned on every path, `possible` ones on at least one.
    """

    read: set[str] = field(default_factory=set)
    definite: set[str] = field(default_factory=set)
    possible: set[str] = field(default_factory=set)


def flow_of(text: str) -> Flow:
    """The data flow of statements, from their text; ValueError where it is not Python of this version."""
    try:
        parsed = ast.parse(text)
    except (SyntaxError, RecursionError) as error:
        raise ValueError(f"cannot parse it: {error}") from error
    flow = Flow()
    _statements(parsed.body, flow)
    return flow


def _statements(body: Iterable[ast.stmt], flow: Flow) -> None:
    for statement in body:
        _statement(statement, flow)


def _statement(node: ast.stmt, flow: Flow) -> None:
    match node:
        case ast.If(test=test, body=body, orelse=otherwise):
            _expression(test, flow)
            _alternatives([body, otherwise], flow)
        case ast.While(test=test, body=body, orelse=otherwise):
            _expression(test, flow)
            _alternatives([body, [], otherwise], flow)
        case ast.For(target=target, iter=values, body=body, orelse=otherwise):
            _expression(values, flow)
            inside = Flow(flow.read, set(flow.definite), flow.possible)
            _expression(target, inside)
            _statements(body, inside)
            _alternatives([[], otherwise], flow)
        case ast.With(items=items, body=body):
            for item in items:
                _expression(item, flow)
            # Any other context manager may catch an exception (`suppress`).
            is_plain = all(_names(item.context_expr) & {"torch", "open"} for item in items)
            _alternatives([body] if is_plain else [body, []], flow)
        case ast.Try(body=body, handlers=handlers, orelse=otherwise, finalbody=at_end):
            handled = [handler.body for handler in handlers]
            for handler in handlers:
                flow.possible |= {handler.name} if handler.name else set()
            _alternatives([[*body, *otherwise], *handled, []], flow)
            _statements(at_end, flow)
        case ast.AugAssign(target=target, value=value):
            _read(_names(target), flow)
            _expression(value, flow)
            _write(_names(target) if isinstance(target, ast.Name) else (), flow)
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            _expression(node, flow)
            _write([name], flow)
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            _write([(each.asname or each.name).partition(".")[0] for each in names], flow)
        case ast.Assign(targets=targets, value=value):
            _expression(value, flow)
            for target in targets:
                _expression(target, flow)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                _expression(value, flow)
                _expression(target, flow)
        case _:
            _expression(node, flow)


def _alternatives(bodies: Iterable[list[ast.stmt]], flow: Flow) -> None:
    """Add blocks of which one runs: a name is definite if all blocks that do not leave assign it."""
    ends = []
    for body in bodies:
        inside = Flow(flow.read, set(flow.definite), flow.possible)
        _statements(body, inside)
        if not (body and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)):
            ends.append(inside.definite)
    if ends:
        flow.definite |= set.intersection(*ends)


def _expression(node: ast.AST, flow: Flow) -> None:
    """Add the names read and written in an expression, or in a statement that contains no others."""
    for name, is_read in _uses(node):
        if is_read:
            _read([name], flow)
    _write([name for name, is_read in _uses(node) if not is_read], flow)


def _uses(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Each plain name, and whether it is read; the local names of inner functions are left out."""
    if isinstance(node, ast.Name):
        yield node.id, isinstance(node.ctx, ast.Load)
        return
    if isinstance(node, _Comprehension):  # its first iterable is evaluated in the enclosing scope
        yield from _uses(node.generators[0].iter)
    inner = [use for child in ast.iter_child_nodes(node) for use in _uses(child)]
    own: set[str] = set()
    if isinstance(node, _Function):
        own = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
    if isinstance(node, _Function | _Comprehension | ast.ClassDef):
        own |= {name for name, is_read in inner if not is_read}
        inner = [(name, True) for name, is_read in inner if is_read and name not in own]
    yield from inner


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _read(names: Iterable[str], flow: Flow) -> None:
    flow.read |= set(names) - flow.definite


def _write(names: Iterable[str], flow: Flow) -> None:
    flow.definite |= set(names)
    flow.possible |= set(names)


# Expressions whose value is a new object.
_NEW_VALUES = (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.BaseNumber)
# Functions and methods that draw random numbers: one call more changes all later numbers.
_RANDOM = ("rand", "dropout", "bernoulli", "multinomial", "normal", "poisson", "manual_seed", "seed")
# Names by which torch's functions are called, which have no side effects unless their name says so.
CLOCKS = {"time", "perf_counter", "monotonic", "process_time", "now", "utcnow", "datetime", "default_timer"}
_TORCH = ("torch", "F", "math")


def changes_in_place(function: cst.FunctionDef) -> bool:
    """Whether a function may change an argument in place; it may assign attributes of `self`."""
    for node in nodes(function.body):
        if isinstance(node, cst.AugAssign) and not (
            isinstance(node.target, cst.Name) and is_computed_in(function, node.target.value)
        ):
            return True
        if isinstance(node, cst.AssignTarget) and contains(node.target, cst.Subscript):
            return True
        if isinstance(node, cst.Call) and is_in_place(node):
            return True
    return False


def is_computed_in(function: cst.FunctionDef, name: str) -> bool:
    """Whether each value of the name is a new object, computed in the function and not shared."""
    if any(isinstance(node, cst.Param) and node.name.value == name for node in nodes(function)):
        return False
    values = [
        node.value
        for node in nodes(function.body)
        if isinstance(node, cst.Assign) and any(name in names_in(each.target) for each in node.targets)
    ]
    return bool(values) and all(isinstance(value, _NEW_VALUES) for value in values)


def may_have_effects(node: cst.CSTNode) -> bool:
    """Whether evaluating it may have side effects: by calls outside of torch, or by random numbers.

    Methods of values and modules are assumed to only compute, although a module in training mode may count.
    """
    if contains(node, cst.NamedExpr, cst.Await):
        return True
    return any(isinstance(each, cst.Call) and has_effects(each) for each in nodes(node))


def has_effects(call: cst.Call) -> bool:
    """Whether the call may have side effects, by its name."""
    name = dotted(call.func)
    last = call.func.attr.value if isinstance(call.func, cst.Attribute) else name or ""
    if is_in_place(call) or last.startswith(_RANDOM) or last in ("pop", "append", "write"):
        return True
    if isinstance(call.func, cst.Name):
        return last not in ("len", "float", "int", "abs", "max", "min", "sum", "bool")
    return False


def calls_outside_torch(node: cst.CSTNode, own: set[str]) -> bool:
    """Whether it calls anything that is neither torch's nor a method of one of the names in `own`."""
    for call in nodes(node):
        if isinstance(call, cst.Call):
            name = dotted(call.func)
            if name is None and isinstance(call.func, cst.Attribute):
                continue  # a method of what another call returns, which is checked itself
            first = (name or "").partition(".")[0]
            is_method = "." in (name or "") and first in own
            if has_effects(call) or not (first in _TORCH or is_method):
                return True
    return False


def is_in_place(call: cst.Call) -> bool:
    """Whether the call writes into a tensor that is there already, by its name."""
    is_out = any(each.keyword is not None and each.keyword.value == "out" for each in call.args)
    if not isinstance(call.func, cst.Attribute):
        return is_out
    name = call.func.attr.value
    return is_out or (name.endswith("_") and not name.endswith("__"))


# How a function is compiled: by its decorator, or by a call of torch.compile, which takes the function or a
# model whose `forward` it is. Where there are several, or none in the file, the answer is None.

_MOST_FUNCTIONS = 5  # through which an object is handed on
_FORWARD = ("forward", "__call__")
# Methods of a module that return the module.
_RETURN_THE_MODULE = {
    "eval",
    "train",
    "requires_grad_",
    "to",
    "cpu",
    "cuda",
    "float",
    "double",
    "half",
    "bfloat16",
}
# Names in a program that sees the wrapper of a compiled model, or the other names of its parameters.
_WRAPPER_NAMES = {"_orig_mod", "state_dict", "load_state_dict", "named_parameters", "named_modules"}


@dataclass(frozen=True)
class Compilation:
    """How a function is compiled: `without` removes that, `decorator` compiles another one equally."""

    without: Mapping[cst.CSTNode, Put]
    decorator: cst.Decorator


def compilation_of(source: Source, function: cst.FunctionDef) -> Compilation | None:
    """How a function or method of the module is compiled; None where that is not known."""
    torch = torch_name(source)
    home = next(source.enclosing(function, cst.FunctionDef, cst.ClassDef), None)
    if torch is None:
        return None
    for decorator in function.decorators:
        node = decorator.decorator
        if dotted(node.func if isinstance(node, cst.Call) else node) == f"{torch}.compile":
            plain = decorator.with_changes(leading_lines=())
            return Compilation({decorator: cst.RemoveFromParent()}, plain)
    if isinstance(home, cst.FunctionDef):
        return None  # its name may be given away; what is decorated has its parts beside it
    if home is None:
        name = function.name.value
        calls = [call for call in _compilations(source, torch) if dotted(call.args[0].value) == name]
        uses = [each for each in source.every(cst.Name) if each.value == name and each is not function.name]
        return _compilation_by(source, calls[0]) if len(calls) == 1 == len(uses) else None
    if not isinstance(home, cst.ClassDef):
        return None
    name, compiled = function.name.value, list(_compilations(source, torch))
    calls = [call for call in compiled if _is_bound_method(source, call.args[0].value, name, home)]
    if name in _FORWARD and not calls:
        # A compiled model's parameters have other names in a checkpoint, and below `_orig_mod`.
        if names_in(source.module) & _WRAPPER_NAMES:
            return None
        calls = [call for call in compiled if _is_made_by(source, call.args[0].value, home.name.value)]
    return _compilation_by(source, calls[0]) if len(calls) == 1 else None


def _is_bound_method(source: Source, method: cst.BaseExpression, name: str, home: cst.ClassDef) -> bool:
    """Whether it is the method of this name of an object of the class: `trainer.step`, `self.step`."""
    if not isinstance(method, cst.Attribute) or method.attr.value != name:
        return False
    is_own = dotted(method.value) == "self" and next(source.enclosing(method, cst.ClassDef), None) is home
    return is_own or _is_made_by(source, method.value, home.name.value)


def _compilations(source: Source, torch: str) -> Iterator[cst.Call]:
    for call in source.every(cst.Call):
        if dotted(call.func) == f"{torch}.compile" and call.args and call.args[0].keyword is None:
            yield call


def _is_made_by(source: Source, model: cst.BaseExpression, name: str, depth: int = 0) -> bool:
    """Whether it is an object of this class: a call of it, or a name that is assigned nothing else.

    So is an argument of a function that is called once, with such an object.
    """
    if isinstance(model, cst.Call):
        return dotted(_made_first(model).func) == name
    given = _given_for(source, model) if depth < _MOST_FUNCTIONS else None
    if given is not None:
        return _is_made_by(source, given, name, depth + 1)
    name_of_model = dotted(model)
    assigned = (
        (dotted(each.target), node.value) for node in source.every(cst.Assign) for each in node.targets
    )
    values = [value for target, value in assigned if target is not None and target == name_of_model]
    others = [value for value in values if not (isinstance(value, cst.Call) and model in _arguments(value))]
    return (
        len(others) == 1 and isinstance(others[0], cst.Call) and dotted(_made_first(others[0]).func) == name
    )


def _given_for(source: Source, argument: cst.BaseExpression) -> cst.BaseExpression | None:
    """What the only call of a function gives for one of its arguments; None where there is not one call."""
    function = next(source.enclosing(argument, cst.FunctionDef, cst.Lambda), None)
    if not isinstance(argument, cst.Name) or not isinstance(function, cst.FunctionDef):
        return None
    home = next(source.enclosing(function, cst.ClassDef, cst.FunctionDef), None)
    names = [each.name.value for each in function.params.params[isinstance(home, cst.ClassDef) :]]
    is_made = isinstance(home, cst.ClassDef) and function.name.value == "__init__"
    called = home.name.value if is_made and isinstance(home, cst.ClassDef) else function.name.value
    calls = [each for each in source.every(cst.Call) if called_name(each) == called]
    is_changed = any(
        isinstance(each, cst.AssignTarget) and dotted(each.target) == argument.value
        for each in nodes(function.body)
    )
    if len(calls) != 1 or is_changed or argument.value not in names:
        return None
    given = list(zip(names, calls[0].args, strict=False))
    values = {each.keyword.value if each.keyword else name: each.value for name, each in given}
    return None if any(each.star for each in calls[0].args) else values.get(argument.value)


def class_made(made: cst.BaseExpression) -> str | None:
    """The class of which an expression makes an object: `Model` of `Model().eval()`; None for others."""
    return dotted(_made_first(made).func) if isinstance(made, cst.Call) else None


def _made_first(call: cst.Call) -> cst.Call:
    """`Model()` of `Model().eval()`."""
    method = call.func
    if not isinstance(method, cst.Attribute) or not isinstance(method.value, cst.Call):
        return call
    return _made_first(method.value) if method.attr.value in _RETURN_THE_MODULE else call


def _is_unconditional(source: Source, call: cst.Call) -> bool:
    """Whether the program makes this call in every run, and not only with some option."""
    return all(
        isinstance(each, cst.If) and "__name__" in names_in(each.test)
        for each in source.enclosing(call, cst.If, cst.IfExp, cst.BooleanOperation, cst.Try)
    )


def _arguments(call: cst.Call) -> list[cst.BaseExpression]:
    return [each.value for each in call.args]


def _compilation_by(source: Source, call: cst.Call) -> Compilation | None:
    if not _is_unconditional(source, call):
        return None
    model, *arguments = call.args
    decorated = call.func if not arguments else call.with_changes(args=arguments)
    assigned = source.parent(call)
    line = source.parent(assigned)
    is_only_that = (
        isinstance(assigned, cst.Assign)
        and len(assigned.targets) == 1
        and dotted(assigned.targets[0].target) == dotted(model.value)
        and alone_in(line) is assigned
    )
    without: Mapping[cst.CSTNode, Put] = (
        {line: cst.RemoveFromParent()} if is_only_that else {call: model.value}
    )
    return Compilation(without, cst.Decorator(decorated))
