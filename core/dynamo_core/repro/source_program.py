"""A script as a program to shrink: statements, what surrounds them, and parts of expressions.

Comments and layout are not kept: what is written is Python's own rendering of the syntax tree.
"""

import ast
import builtins
import copy
import io
import re
import tokenize
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..analysis.words import number
from ..model import Recording
from .shrinking import Shrinker, minimal
from .trials import Candidate

_MOST_PASSES = 8
_TORCHS = ("forward", "backward", "setup_context")  # methods that torch calls by their names


def source_candidate(text: str) -> Candidate:
    """A script to try, compiled and not."""
    return Candidate(text, text, number(sum(bool(line.strip()) for line in text.splitlines()), "line"))


def source_text(text: str) -> str:
    """A script without comments and docstrings; SyntaxError where it is no Python."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]) and not isinstance(node, ast.Lambda):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
    return _text(tree)


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and type(node.value.value) is str
    )


def _text(tree: ast.Module) -> str:
    """The text of a module, with two empty lines around functions and classes, and none behind a colon."""
    parts: list[str] = []
    is_block = False
    for statement in ast.fix_missing_locations(tree).body:
        was_block, is_block = is_block, isinstance(statement, (ast.FunctionDef, ast.ClassDef))
        parts += ["", ""] if parts and (is_block or was_block) else []
        lines = ast.unparse(statement).splitlines()
        parts += [line for number, line in enumerate(lines) if line.strip() or number]
    return with_double_quotes(re.sub(r":\n\n(?= )", ":\n", "\n".join(parts)) + "\n")


class SourceShrinker(Shrinker[str]):
    """Shrinks the text of a script."""

    def candidate(self, program: str) -> Candidate:
        """The texts to try of a program."""
        return source_candidate(program)

    def shrink(self) -> None:
        """Shrink until nothing gets smaller; BudgetSpent ends it earlier."""
        for _ in range(_MOST_PASSES):
            before = self.program
            self._take_statements()
            self._take_edits(_unwrapped)
            self._take_edits(_simpler)
            if self.program == before:
                break

    def rename(self) -> None:
        """Replace the names of the user's by plain ones, if it fails with those as well."""
        self.take_first([_renamed(self.program, with_attributes=each) for each in (True, False)])

    def _take_statements(self) -> None:
        text = self.program
        numbers = range(sum(isinstance(each, ast.stmt) for each in ast.walk(ast.parse(text))))
        minimal(numbers, lambda parts: self.take_first([_only(text, each) for each in parts]))

    def _take_edits(self, edits: Callable[[ast.AST], Iterator[ast.AST | list[Any]]]) -> None:
        """Replace nodes by what is simpler, each until none fails any more."""
        number = 0
        while True:
            texts = _edited(self.program, number, edits)
            if texts is None:
                return
            if self.take_first(texts) is None:
                number += 1


class _Selected(ast.NodeTransformer):
    """Leaves out statements; their numbers are their places in the order of `ast.walk`."""

    def __init__(self, kept: set[ast.stmt]) -> None:
        self._kept = kept

    def visit(self, node: ast.AST) -> Any:
        """The node, None for a statement that goes; a body that is left empty is `pass`."""
        if isinstance(node, ast.stmt) and node not in self._kept:
            return None
        node = self.generic_visit(node)
        if hasattr(node, "body") and node.body == [] and not isinstance(node, ast.Module):
            node.body = [ast.Pass()]
        if isinstance(node, ast.Try) and not (node.handlers or node.finalbody):
            return node.body
        return node


def _only(text: str, numbers: Sequence[int]) -> str | None:
    """The text with these statements alone; None where that is no program."""
    tree = ast.parse(text)
    statements = [each for each in ast.walk(tree) if isinstance(each, ast.stmt)]
    kept = {statements[number] for number in numbers}
    return _checked(_Selected(kept).visit(tree))


def _checked(tree: ast.Module) -> str | None:
    try:
        text = _text(tree)
        compile(text, "<repro>", "exec")
    except (SyntaxError, ValueError, TypeError):
        return None
    return text


def _edited(
    text: str, number: int, edits: Callable[[ast.AST], Iterator[ast.AST | list[Any]]]
) -> list[str | None] | None:
    """The texts in which node `number` (as `ast.walk` counts) is replaced; None behind the last node."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    if number >= len(nodes):
        return None
    found: list[str | None] = []
    for instead in edits(nodes[number]):
        other = copy.deepcopy(tree)
        target = list(ast.walk(other))[number]
        new = _checked(_Replaced(target, instead).visit(other))
        found.append(new if new != text else None)
    return found


class _Replaced(ast.NodeTransformer):
    def __init__(self, target: ast.AST, instead: Any) -> None:
        self._target, self._instead = target, instead

    def visit(self, node: ast.AST) -> Any:
        """The replacement, for the target."""
        return copy.deepcopy(self._instead) if node is self._target else self.generic_visit(node)


def _unwrapped(node: ast.AST) -> Iterator[ast.AST | list[Any]]:
    """The statements in a compound one; a function or class without its decorators and bases."""
    if isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
        yield node.body
        if getattr(node, "orelse", None):
            yield node.orelse  # type: ignore[union-attr]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.decorator_list:
        for each in node.decorator_list:
            rest = [one for one in node.decorator_list if one is not each]
            yield _with(node, decorator_list=rest)
    if isinstance(node, ast.ClassDef) and (node.bases or node.keywords):
        yield _with(node, bases=[], keywords=[])


def _simpler(node: ast.AST) -> Iterator[ast.AST | list[Any]]:
    """An expression without one of its parts, or one of its parts alone."""
    if isinstance(node, ast.Call):
        for index in reversed(range(len(node.args))):
            yield _with(node, args=[*node.args[:index], *node.args[index + 1 :]])
        is_compile = _is_compile(node.func)  # whose backend says the stage
        for keyword in [each for each in node.keywords if not (is_compile and each.arg == "backend")]:
            yield _with(node, keywords=[one for one in node.keywords if one is not keyword])
        if isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name):
            yield node.func.value
        if len(node.args) == 1:
            yield node.args[0]
        if not node.args and not node.keywords:
            yield node.func
    elif isinstance(node, ast.BinOp):
        yield node.left
        yield node.right
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    elif isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) > 1:
        for each in node.elts:
            yield _with(node, elts=[one for one in node.elts if one is not each])
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        yield ast.Expr(node.value)
    elif isinstance(node, ast.arguments) and node.defaults:
        yield _with(node, args=node.args[: -len(node.defaults)], defaults=[])
    elif isinstance(node, ast.Constant) and type(node.value) is int and node.value > 4:
        yield from map(ast.Constant, (2, 3, node.value // 2))
    elif isinstance(node, ast.Constant) and type(node.value) is str and node.value:
        yield ast.Constant("")


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _renamed(text: str, *, with_attributes: bool) -> str | None:
    """The text with plain names for functions, classes, arguments and variables that it binds itself.

    Attributes of `self` may be torch's as well.
    """
    tree = ast.parse(text)
    fresh: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name not in _TORCHS and not node.name.startswith("__"):
            fresh.setdefault(node.name, f"function_{len(fresh) + 1}")
        elif isinstance(node, ast.ClassDef):
            fresh.setdefault(node.name, f"Class{len(fresh) + 1}")
        elif isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)):
            name = node.arg if isinstance(node, ast.arg) else node.id
            if name not in ("self", "cls") and not hasattr(builtins, name):
                fresh.setdefault(name, f"value_{len(fresh) + 1}")
        elif with_attributes and isinstance(node, ast.Attribute) and _is_set_on_self(node):
            fresh.setdefault(node.attr, f"value_{len(fresh) + 1}")
    for node in ast.walk(tree):
        for field in ("id", "name", "arg", "attr"):
            if getattr(node, field, None) in fresh:
                setattr(node, field, fresh[getattr(node, field)])
    return _checked(tree)


def _is_set_on_self(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"


def with_what_was_captured(script: Path, recording: Recording) -> str:
    """The text of a script, with torch.compile around its functions that `dynamo run` compiled by itself."""
    text, file = script.read_text(encoding="utf-8"), script.resolve()
    frames = [frame for each in recording.processes if each.is_captured_now for frame in each.frames]
    lines = {each.place.line for each in frames if Path(each.place.file).resolve() == file}
    return with_compiled_functions(text, lines) if lines else text


def with_compiled_functions(text: str, lines: Collection[int]) -> str:
    """The text with torch.compile around the functions that begin on these lines."""
    tree = ast.parse(text)
    functions = [each for each in ast.walk(tree) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for each in functions:
        if {each.lineno, *(decorator.lineno for decorator in each.decorator_list)} & set(lines):
            each.decorator_list.append(ast.parse("torch.compile", mode="eval").body)
    first = next((at for at, each in enumerate(tree.body) if not _has_to_stand_first(each)), 0)
    tree.body.insert(first, ast.parse("import torch").body[0])
    return ast.unparse(tree)


def _has_to_stand_first(statement: ast.stmt) -> bool:
    return _is_docstring(statement) or (
        isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    )


def with_compile_argument(text: str, name: str, value: Any) -> str | None:
    """The text with an argument in each call of torch.compile; None where there is none."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        decorators = getattr(node, "decorator_list", [])
        decorators[:] = [ast.Call(each, [], []) if _is_compile(each) else each for each in decorators]
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and _is_compile(each.func)]
    for call in calls:
        rest = [each for each in call.keywords if each.arg != name]
        call.keywords = [*rest, ast.keyword(name, ast.Constant(value))]
    return _checked(tree) if calls else None


def _is_compile(node: ast.expr) -> bool:
    return ast.unparse(node) == "torch.compile"


def with_double_quotes(text: str) -> str:
    """The text with its strings in double quotes, where they hold no quotes of either kind."""
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and re.fullmatch(r"'[^'\"\n]*'", token.string):
            (row, begin), (_, end) = token.start, token.end
            line = lines[row - 1]
            lines[row - 1] = f'{line[:begin]}"{line[begin + 1 : end - 1]}"{line[end:]}'
    return "".join(lines)


def with_prints(text: str) -> str | None:
    """The text that prints what each call outside of functions gives, and each call in `main`."""
    tree = ast.parse(text)
    blocks: list[list[ast.stmt]] = [tree.body]
    blocks += [each.body for each in ast.walk(tree) if isinstance(each, (ast.For, ast.If, ast.With))]
    blocks += [
        each.body for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == "main"
    ]
    for block in blocks:
        for index in reversed(range(len(block))):
            each = block[index]
            if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call):
                if isinstance(each.targets[0], ast.Name):
                    block.insert(index + 1, _printing(ast.Name(each.targets[0].id, ast.Load())))
            elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and not _is_print(each):
                block[index] = _printing(each.value)
    return _checked(tree)


def _printing(value: ast.expr) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Name("print", ast.Load()), [value], []))


def with_assertion(text: str, expected: str) -> str | None:
    """The text whose only print is an assertion that it would print `expected`; None where that is not so."""
    tree = ast.parse(text)
    prints: list[Any] = [each for each in ast.walk(tree) if _is_print(each)]
    if len(prints) != 1 or len(prints[0].value.args) != 1:
        return None
    value = ast.unparse(prints[0].value.args[0])
    instead = ast.parse(_assertion(value, expected.strip())).body
    return _checked(_Replaced(prints[0], instead).visit(tree))


def with_noted_prints(text: str) -> str | None:
    """The text that keeps what it would print in the list `printed`, and prints that list at its end."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if _is_print(node):
            call: Any = node.value  # type: ignore[attr-defined]
            is_one = len(call.args) == 1
            noted = call.args[0] if is_one else ast.Tuple(call.args, ast.Load())
            call.func, call.args, call.keywords = ast.parse("printed.append", mode="eval").body, [noted], []
    imports = len(list(takewhile(lambda each: isinstance(each, (ast.Import, ast.ImportFrom)), tree.body)))
    tree.body[imports:imports] = ast.parse("printed = []").body
    tree.body += ast.parse("print(printed)").body
    return _checked(tree)


def _is_print(node: ast.AST) -> bool:
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return is_call and ast.unparse(node.value.func) == "print"  # type: ignore[attr-defined]


def _assertion(value: str, expected: str) -> str:
    tensor = "torch." + expected.replace(", grad_fn=", ", #").partition(", #")[0]
    tensor += "" if tensor.endswith(")") else ")"
    if expected.startswith("tensor("):
        try:
            ast.parse(tensor)
            options = f"rtol=0.01, atol=0.01{', equal_nan=True' if 'nan' in tensor else ''}"
            tensor = re.sub(r"\b(inf|nan)\b", r"torch.\1", tensor)
            return f"got = {value}\ntorch.testing.assert_close(got, {tensor}, {options})"
        except SyntaxError:
            return f"assert str({value}) == {expected!r}"
    try:
        ast.literal_eval(expected)
    except (ValueError, SyntaxError):
        return f"assert str({value}) == {expected!r}"
    is_number = expected.lstrip("-").replace(".", "", 1).isdigit() and "." in expected
    return f"assert abs({value} - {expected}) < 0.01" if is_number else f"assert {value} == {expected}"
