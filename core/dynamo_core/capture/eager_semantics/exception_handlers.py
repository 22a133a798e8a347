"""Operations of a captured graph that stand where the program handles what they raise.

Dynamo's bytecode calls a graph at its beginning, before any `try` or `with` of the frame is entered. What the
graph raises for its data (a matrix that is not positive definite, an index out of range) does not reach the
`except`, `finally` or `__exit__` around the operation.
"""

import ast
import builtins
import functools
import linecache
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..frames.program_files import is_own
from ..frames.source import user_lines

if TYPE_CHECKING:
    from torch.fx import GraphModule, Node

_TORCHS_OPERATORS = ("aten", "prims", "prim")  # namespaces; others may raise exceptions of any type
_TORCHS_TARGETS = ("torch", "builtins", "_operator", "operator", "math")
_UNKNOWN = object()
_TRY = (ast.Try, ast.TryStar) if sys.version_info >= (3, 11) else (ast.Try,)


class HandledOperation(NamedTuple):
    """An operation in a `try` or `with`: its file and line, and whether Ctrl-C is handled there as well."""

    file: str
    line: int
    handles_interrupts: bool


class _Handled(NamedTuple):
    """Lines of a file whose exceptions are handled. `types` are the exception types, None for all of them."""

    first: int
    last: int
    types: tuple[ast.expr, ...] | None


def handled_operation(gm: "GraphModule") -> HandledOperation | None:
    """The first operation of a graph whose exceptions the program may handle; None if there is none.

    `finally` and `with` count only in the program's own files: in libraries they usually tidy up around whole
    models.
    """
    for node in gm.graph.nodes:
        if not node.op.startswith("call_"):
            continue
        for file, line in user_lines(node.meta.get("stack_trace")):
            if "/torch/" in file:
                continue
            for handled in _handled_lines(file):
                if handled.first <= line <= handled.last:
                    caught = _handler_types(handled, file)
                    if _may_raise_one_of(caught, node):
                        return HandledOperation(file, line, KeyboardInterrupt in caught)
    return None


@functools.lru_cache(maxsize=1000)
def _handled_lines(file: str) -> tuple[_Handled, ...]:
    source = "".join(linecache.getlines(file))
    if "try:" not in source and "with " not in source:
        return ()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    return tuple(_handled_in(tree, has_own_code=is_own(file)))


def _handled_in(tree: ast.Module, *, has_own_code: bool) -> Iterator[_Handled]:
    for node in ast.walk(tree):
        if isinstance(node, _TRY):
            lines = node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno
            types = [handler.type for handler in node.handlers]
            if None in types or (node.finalbody and has_own_code):
                yield _Handled(*lines, None)
            elif types:
                yield _Handled(*lines, tuple(type_ for type_ in types if type_ is not None))
        elif isinstance(node, ast.With) and has_own_code and not all(map(_is_of_torch, node.items)):
            yield _Handled(node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno, None)


def _is_of_torch(item: ast.withitem) -> bool:
    """Whether a `with` enters a context of torch's (`torch.no_grad()`), which handles no exceptions."""
    return ast.unparse(item.context_expr).startswith("torch.")


def _handler_types(handled: _Handled, file: str) -> tuple[Any, ...]:
    """The exception types that are handled; _UNKNOWN stands for one that is not known."""
    if handled.types is None:
        return (Exception,)
    module = next(
        (vars(each) for each in list(sys.modules.values()) if getattr(each, "__file__", None) == file), {}
    )
    return tuple(type_ for given in handled.types for type_ in _evaluated(given, module))


def _evaluated(expression: ast.expr, names: dict[str, Any]) -> Iterator[Any]:
    """The exception types that an expression after `except` stands for, without running code of its own."""
    if isinstance(expression, ast.Tuple):
        for element in expression.elts:
            yield from _evaluated(element, names)
        return
    found = _looked_up(expression, names)
    for type_ in found if isinstance(found, tuple) else (found,):
        yield type_ if isinstance(type_, type) else _UNKNOWN


def _looked_up(expression: ast.expr, names: dict[str, Any]) -> Any:
    if isinstance(expression, ast.Name):
        return names.get(expression.id, vars(builtins).get(expression.id, _UNKNOWN))
    if isinstance(expression, ast.Attribute):
        owner = _looked_up(expression.value, names)
        return getattr(owner, "__dict__", {}).get(expression.attr, _UNKNOWN)
    return _UNKNOWN


def _may_raise_one_of(types: tuple[Any, ...], node: "Node") -> bool:
    """Whether a node can raise one of these types, or its interruption by Ctrl-C is one of them."""
    if _UNKNOWN in types or not _is_torchs(node):
        return True
    return any(issubclass(raised, types) for raised in (*_raised_by_torch(), KeyboardInterrupt))


@functools.lru_cache(maxsize=1)
def _raised_by_torch() -> tuple[type[BaseException], ...]:
    """The exception types of torch's operations: torch/csrc/Exceptions.h, torch/csrc/Exceptions.cpp."""
    import torch

    return (
        RuntimeError,
        IndexError,
        ValueError,
        TypeError,
        NotImplementedError,
        AssertionError,
        MemoryError,
        OverflowError,
        ZeroDivisionError,
        torch.linalg.LinAlgError,
        torch.OutOfMemoryError,
    )


def _is_torchs(node: "Node") -> bool:
    """Whether a node calls an operation of torch's own, rather than a custom operator."""
    if node.op != "call_function":
        return bool(node.op == "call_method")
    namespace = getattr(node.target, "namespace", None)  # of an OpOverload
    if namespace is None and hasattr(node.target, "_qualified_op_name"):  # an OpOverloadPacket
        namespace = node.target._qualified_op_name.partition("::")[0]
    if isinstance(namespace, str):
        return namespace in _TORCHS_OPERATORS
    module = getattr(node.target, "__module__", None) or "torch"  # builtin methods of torch have none
    return str(module).partition(".")[0] in _TORCHS_TARGETS
