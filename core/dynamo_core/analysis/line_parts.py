"""The parts of a line of source that advice names: the condition of a branch, a call, what is assigned.

The line may be a piece of a statement over several lines, or anything else: then there are no parts. It is
parsed, never executed.
"""

import ast
import functools
import re
import warnings
from collections.abc import Iterator

_LONGEST_LINE = 300  # characters; Python's parser is not to be given more of a stranger's text
_LONGEST_PART = 80  # what is longer is not worth repeating
# The methods of lists, dictionaries, sets and deques that change how many elements there are.
_CHANGING = re.compile(
    r"append|appendleft|extend|insert|pop|popleft|popitem|remove|clear|add|discard|update|setdefault"
)
_WAITING = frozenset(("sleep", "input"))
_Branch = (ast.If, ast.While, ast.IfExp, ast.Assert)


@functools.lru_cache(maxsize=256)
def _parsed(line: str) -> ast.AST | None:
    text = line.strip()
    if not text or len(text) > _LONGEST_LINE:
        return None
    if text.startswith("elif"):
        text = text.removeprefix("el")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes in a string
        for form in (text, f"{text}\n pass", f"class _:\n {text}\n  pass"):
            try:
                return ast.parse(form)
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                continue
    return None


def condition_of(line: str) -> str | None:
    """What `if`, `while`, `assert` or a conditional expression on this line tests."""
    branch = next((node for node in _nodes(line) if isinstance(node, _Branch)), None)
    return None if branch is None else _text(branch.test)


def is_made_of_conditions(line: str) -> bool:
    """Whether that is made with `and`, `or`, `not`, `in` or a comparison of three: each asks for a bool."""
    branch = next((node for node in _nodes(line) if isinstance(node, _Branch)), None)
    return branch is not None and any(map(_asks_for_a_bool, ast.walk(branch.test)))


def is_bare(line: str) -> bool:
    """Whether the line gives no name a value: a call whose result nobody takes, an entry of a dictionary."""
    is_statement = any(isinstance(node, ast.Expr | ast.Assign) for node in _nodes(line))
    return is_statement and not targets_of(line)


def has_made_message(line: str) -> bool:
    """Whether it is an assert whose message is not a constant."""
    return any(
        isinstance(node, ast.Assert) and node.msg is not None and not isinstance(node.msg, ast.Constant)
        for node in _nodes(line)
    )


def call_on(line: str, names: frozenset[str]) -> str | None:
    """The call of one of these on the line; the only call, where none of them is called there."""
    calls = [node for node in _nodes(line) if isinstance(node, ast.Call)]
    named = [call for call in calls if _last_name(call.func) in names]
    chosen = named or (calls if len(calls) == 1 else [])
    return _text(chosen[0]) if chosen else None


def targets_of(line: str) -> tuple[str, ...]:
    """The names that the line gives a value."""
    found = [
        target.id
        for node in _nodes(line)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr)
        for assigned in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target in ast.walk(assigned)
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    ]
    return tuple(dict.fromkeys(found))


def changed_by(line: str) -> tuple[str, ...]:
    """The lists, dictionaries and sets that the line puts something into or takes something out of."""
    found = [_text(owner) for node in _nodes(line) for owner in _containers_changed(node)]
    return tuple(dict.fromkeys(name for name in found if name is not None))


def waiting_call(line: str) -> str | None:
    """The call on the line that only waits, or asks the user: `time.sleep(0.1)`."""
    calls = [node for node in _nodes(line) if isinstance(node, ast.Call)]
    return next((_text(call) for call in calls if _last_name(call.func) in _WAITING), None)


def compared_in(line: str, attribute: str) -> tuple[str, str] | None:
    """The two objects whose results of a method are compared: `a`, `b` of `a.data_ptr() == b.data_ptr()`."""
    for node in _nodes(line):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            sides = [_owner(side, attribute) for side in (node.left, node.comparators[0])]
            if sides[0] and sides[1]:
                return sides[0], sides[1]
    return None


def _asks_for_a_bool(node: ast.AST) -> bool:
    match node:
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=operators):
            return len(operators) > 1 or isinstance(operators[0], ast.In | ast.NotIn)
    return False


def _containers_changed(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if _CHANGING.fullmatch(method):
            return [owner]
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            return [target.value for target in targets if isinstance(target, ast.Subscript)]
        case ast.AugAssign(target=ast.Name() | ast.Attribute() as target, op=ast.Add() | ast.BitOr()):
            return [target]
    return []


def _owner(node: ast.AST, method: str) -> str | None:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr == method:
            return _text(owner)
    return None


def _nodes(line: str) -> Iterator[ast.AST]:
    tree = _parsed(line)
    return iter(()) if tree is None else ast.walk(tree)


def _last_name(node: ast.AST) -> str | None:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return None


def _text(node: ast.AST) -> str | None:
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return None
    return text if len(text) <= _LONGEST_PART else None
