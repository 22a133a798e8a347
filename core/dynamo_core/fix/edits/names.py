"""Which local names some statements read, and which they give a value: surely, or in some cases only.

Worked out on Python's own syntax tree of their text; nothing is executed.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import field

from ...shared.quick_dataclass import dataclass

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass
class Flow:
    """`read` are names that must have a value before; `surely` and `perhaps` those that get one."""

    read: set[str] = field(default_factory=set)
    surely: set[str] = field(default_factory=set)
    perhaps: set[str] = field(default_factory=set)


def flow_of(text: str) -> Flow:
    """That of statements, by their text; ValueError where it is no Python of this version."""
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
            inside = Flow(flow.read, set(flow.surely), flow.perhaps)
            _expression(target, inside)
            _statements(body, inside)
            _alternatives([[], otherwise], flow)
        case ast.With(items=items, body=body):
            for item in items:
                _expression(item, flow)
            # Another one than these may catch an exception (`suppress`).
            is_plain = all(_names(item.context_expr) & {"torch", "open"} for item in items)
            _alternatives([body] if is_plain else [body, []], flow)
        case ast.Try(body=body, handlers=handlers, orelse=otherwise, finalbody=at_end):
            caught = [each.body for each in handlers]
            for handler in handlers:
                flow.perhaps |= {handler.name} if handler.name else set()
            _alternatives([[*body, *otherwise], *caught, []], flow)
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
    """One of these runs: what surely gets a value does so in each that does not leave."""
    ends = []
    for body in bodies:
        inside = Flow(flow.read, set(flow.surely), flow.perhaps)
        _statements(body, inside)
        if not (body and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)):
            ends.append(inside.surely)
    if ends:
        flow.surely |= set.intersection(*ends)


def _expression(node: ast.AST, flow: Flow) -> None:
    """Names read and written in an expression, or in a statement without others in it."""
    for name, is_read in _uses(node):
        if is_read:
            _read([name], flow)
    _write([name for name, is_read in _uses(node) if not is_read], flow)


def _uses(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Each plain name, and whether it is read; those that are an inner function's own are left out."""
    if isinstance(node, ast.Name):
        yield node.id, isinstance(node.ctx, ast.Load)
        return
    if isinstance(node, _Comprehension):  # what the first loop is over is looked up outside
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
    flow.read |= set(names) - flow.surely


def _write(names: Iterable[str], flow: Flow) -> None:
    flow.surely |= set(names)
    flow.perhaps |= set(names)
