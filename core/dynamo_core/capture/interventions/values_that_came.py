"""The value that a failed guard was given, where torch's words have only the one that it was compiled for.

`k == 1` and `len(xs) == 3` name no value that came. The check is an expression over the frame's variables, of
which the parts that name something are looked up; nothing of the program's own is called for it: attributes
are read from the `__dict__` of objects, and only plain containers are indexed.

Source: torch/_dynamo/guards.py (get_guard_fail_reason_helper, strip_local_scope: `L['x']` is written `x`),
and the names of sources in torch/_dynamo/source.py; read with 2.13.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

_ENTRY = re.compile(r"(?:!\d+/)?\d+/\d+: ")
_TYPE_CHECK = re.compile(r"___check_type_id\((.+), \d+\)(?:, type=.*)?")
_PLAIN = (bool, int, float, str, type(None))
_LONGEST = 200  # characters
# Of containers whose own code is not Python's.
_GET_ITEMS = (dict.__getitem__, list.__getitem__, tuple.__getitem__)
_LENGTHS = (dict.__len__, list.__len__, tuple.__len__, str.__len__, set.__len__, frozenset.__len__)
# Where a module has what it is asked for by name (torch.nn.Module.__getattr__).
_OF_A_MODULE = ("_parameters", "_buffers", "_modules")


def check_of(reason: str) -> str:
    """The check alone: without the id of the cache entry, and the lines that it comes from."""
    return _ENTRY.sub("", reason.partition("\n")[0], count=1).partition("  # ")[0].strip()


def value_that_came(reason: str, f_locals: Mapping[str, Any], f_globals: Mapping[str, Any]) -> str | None:
    """The value, or the type where that is checked; of several, each with its name. None where not known."""
    check = check_of(reason)
    scope = {"L": dict(f_locals), "G": f_globals, **f_locals}
    is_of_type = _TYPE_CHECK.fullmatch(check)
    try:
        tree = ast.parse(is_of_type[1] if is_of_type else check, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # of a tensor: a sentence, which names the value
    if is_of_type:
        found = list(_looked_up(tree, scope))
        return _name_of_type(type(found[0])) if found else None
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        return next(
            (str(len(value)) for value in _looked_up(tree.operand, scope) if _has_length(value)), None
        )
    named = {ast.unparse(node): text for node in _sources(tree) for text in _texts(node, scope)}
    if len(named) == 1:
        return next(iter(named.values()))
    return ", ".join(f"{name} = {text}" for name, text in named.items()) or None


def _sources(node: ast.AST) -> Iterator[ast.AST]:
    """The outermost parts of an expression that name something."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) or _is_len(node):
        yield node
    elif not isinstance(node, ast.Call):
        for child in ast.iter_child_nodes(node):
            yield from _sources(child)


def _is_len(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _texts(node: ast.AST, scope: Mapping[str, Any]) -> Iterator[str]:
    for value in _looked_up(node, scope):
        if type(value) in _PLAIN and len(text := repr(value)) <= _LONGEST:
            yield text


def _looked_up(node: ast.AST, scope: Mapping[str, Any]) -> Iterator[Any]:
    """What a name stands for; nothing where that is not to be known without the program's own code."""
    if isinstance(node, ast.Name):
        if node.id in scope:
            yield scope[node.id]
    elif isinstance(node, ast.Attribute):
        for base in _looked_up(node.value, scope):
            yield from _attribute(base, node.attr)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        for base in _looked_up(node.value, scope):
            if getattr(type(base), "__getitem__", None) in _GET_ITEMS:
                try:
                    yield base[node.slice.value]
                except (LookupError, TypeError):
                    pass
    elif isinstance(node, ast.Call):
        yield from _called(node, scope)


def _attribute(base: Any, name: str) -> Iterator[Any]:
    try:
        own = object.__getattribute__(base, "__dict__")
    except AttributeError:
        return
    if not isinstance(own, dict):
        return
    held = (own, *(within for key in _OF_A_MODULE if isinstance(within := own.get(key), dict)))
    yield from [within[name] for within in held if name in within][:1]


def _called(node: ast.Call, scope: Mapping[str, Any]) -> Iterator[Any]:
    """`len(xs)` and `x.size()`, the only calls that sources have."""
    if _is_len(node) and len(node.args) == 1:
        for value in _looked_up(node.args[0], scope):
            if _has_length(value):
                yield len(value)
    elif isinstance(node.func, ast.Attribute) and node.func.attr == "size" and not node.args:
        import torch

        for value in _looked_up(node.func.value, scope):
            if type(value) in (torch.Tensor, torch.nn.Parameter):
                yield tuple(map(int, value.shape))


def _has_length(value: Any) -> bool:
    return getattr(type(value), "__len__", None) in _LENGTHS


def _name_of_type(kind: type) -> str:
    name = kind.__qualname__
    return name if kind.__module__ == "builtins" else f"{kind.__module__}.{name}"
