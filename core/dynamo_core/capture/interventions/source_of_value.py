"""Where in the program's source a value comes from that an operation was given: by its syntax alone."""

import ast
import functools
import linecache
from collections.abc import Collection, Iterator
from typing import Any

_MOST_STEPS = 10
_LEAVE = (ast.Return, ast.Raise, ast.Continue, ast.Break)
# Built-in functions whose result follows from their arguments alone.
_OF_ARGUMENTS = frozenset(
    ["len", "sum", "max", "min", "int", "float", "bool", "str", "abs", "round", "sorted"]
)


def line_of_source(file: str, line: int, names: Collection[str]) -> int:
    """The line that wrote the variables which a line has its value from; that line itself if there is none.

    `names` are the variables that hold no tensor. A line that has a value from elsewhere as well (an
    attribute, a call) is the source itself.
    """
    function = _function_around(_tree(file), line)
    for _ in range(_MOST_STEPS):
        statement = _statement_at(function, line)
        used = set() if statement is None else _variables_of(statement, names)
        written = {max((at for at in _writes_of(function, each) if at < line), default=0) for each in used}
        if len(written) != 1 or 0 in written:
            break
        (line,) = written
    return line


@functools.cache
def function_of_line(file: str, line: int) -> tuple[str, int]:
    """The file, and the line at which the innermost function with this line begins; 0 outside of any."""
    return file, getattr(_function_around(_tree(file), line), "lineno", 0)


@functools.cache
def class_of_line(file: str, line: int) -> tuple[str, int] | None:
    """The file and first line of the innermost class with this line; None outside of any."""
    around = [node for node in ast.walk(_tree(file)) if isinstance(node, ast.ClassDef) and _has(node, line)]
    return (file, around[-1].lineno) if around else None


def line_of_returned(file: str, line: int, path: str) -> int:
    """The line that a part of what a `return` gives has its value from: `path` is its index, `[1]`, or ""."""
    function = _function_around(_tree(file), line)
    statement = _statement_at(function, line)
    value = getattr(statement, "value", None)
    index = path.partition("]")[0].lstrip("[")
    if isinstance(value, ast.Tuple) and index.isdigit() and int(index) < len(value.elts):
        value = value.elts[int(index)]
    if not isinstance(value, ast.Name):
        return line
    return max((each for each in _writes_of(function, value.id) if each < line), default=line)


def condition_between(file: str, own: int | None, other: int | None, before: int = 0) -> int | None:
    """The line of the condition that decides between two lines, or for one of them alone.

    One alone may be reached without a condition, so that it has to stand behind the line `before`, which
    both have passed; in a loop that line may stand further down.
    """
    found = None
    lines = [line for line in (own, other) if line is not None]
    first = before if len(lines) == 1 and before < lines[0] else 0
    for node, behind in _conditions_of(file):
        sides = [_side([node.body, node.orelse or behind], line) for line in lines]
        is_decided = len(set(sides)) == 2 or (len(sides) == 1 and sides[0] is not None)
        if is_decided and first <= node.test.lineno and node.lineno < min(lines):
            found = node.test.lineno
    return found


def _conditions_of(file: str) -> Iterator[tuple[Any, list[Any]]]:
    """Each `if`, with what comes behind it where that is its other branch: its own leaves the block."""
    for block in ast.walk(_tree(file)):
        if isinstance(block, ast.IfExp):
            yield block, []
        for name in ("body", "orelse", "finalbody"):
            statements: Any = getattr(block, name, None)
            for at, node in enumerate(statements if isinstance(statements, list) else ()):
                if isinstance(node, ast.If):
                    yield node, statements[at + 1 :] if isinstance(node.body[-1], _LEAVE) else []


@functools.cache
def _tree(file: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _side(branches: list[Any], line: int) -> int | None:
    """Which of the branches of a condition a line is in; None if it is in neither."""
    for number, branch in enumerate(branches):
        nodes = branch if isinstance(branch, list) else [branch]
        if nodes and nodes[0].lineno <= line <= (nodes[-1].end_lineno or nodes[-1].lineno):
            return number
    return None


def _function_around(tree: ast.Module, line: int) -> ast.AST:
    """The innermost function that has a line."""
    found: ast.AST = tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and _has(node, line):
            found = node
    return found


def _has(node: ast.stmt | ast.Lambda, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _statement_at(function: ast.AST, line: int) -> ast.stmt | None:
    """The simple statement of a line; None in the head of a compound one, which decides for itself."""
    simple = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr)
    return next((node for node in ast.walk(function) if isinstance(node, simple) and _has(node, line)), None)


def _variables_of(statement: ast.stmt, names: Collection[str]) -> set[str]:
    """The variables without a tensor that a statement reads; none if it has other such values as well."""
    value = getattr(statement, "value", None)
    if value is None:
        return set()
    read = set()
    for node in ast.walk(value):
        if isinstance(node, ast.Call):
            if not (isinstance(node.func, ast.Name) and node.func.id in _OF_ARGUMENTS):
                return set()
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            return set()
        elif isinstance(node, ast.Name) and node.id in names:
            read.add(node.id)
    return read


def _writes_of(function: ast.AST, name: str) -> Iterator[int]:
    """The lines of a function on which a variable, or what it holds, is written."""
    for node in ast.walk(function):
        if isinstance(node, (ast.Name, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            if _is(node.value if isinstance(node, ast.Subscript) else node, name):
                yield node.lineno
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            method = node.value.func
            if isinstance(method, ast.Attribute) and _is(method.value, name):
                yield node.lineno


def lines_that_change(file: str, name: str, *, in_place: bool) -> set[int]:
    """The lines in functions of a file that write a variable or an attribute of a name.

    `in_place` leaves out those that give it another object.
    """
    functions = [each for each in ast.walk(_tree(file)) if isinstance(each, ast.FunctionDef)]
    lines = set()
    for node in (node for each in functions for node in ast.walk(each)):
        target: Any = None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            target = node.value
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            target = getattr(node.value.func, "value", None)
        elif not in_place and isinstance(getattr(node, "ctx", None), ast.Store):
            target = node
        if name in (getattr(target, "id", None), getattr(target, "attr", None)):
            lines.add(getattr(node, "lineno", 0))
    return lines


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
