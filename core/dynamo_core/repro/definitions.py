"""A backend or an operator of the user's as text that stands alone: its definition, and what that needs."""

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from ..model import OperatorSource
from ..recording.plain_files import read_plain
from ..shared.quick_dataclass import dataclass

_LARGEST = 1 << 20  # bytes of a module
_DEEPEST = 5  # modules that import a definition from one another


@dataclass(frozen=True)
class BackendText:
    """The argument of torch.compile as text, and the statements in front of it that define it."""

    argument: str
    statements: tuple[str, ...] = ()


def backend_text(name: str, script: Path, import_path: Sequence[str]) -> BackendText | None:
    """The backend that a program's script passes to torch.compile; None where it is not found there.

    One that is given as text, and that the script does not define, is registered by torch or by a package.
    """
    text = _read(script)
    tree = None if text is None else _parsed(text)
    if tree is None:
        return None
    given = list(dict.fromkeys(ast.unparse(each) for each in _backend_arguments(tree)))
    fitting = [each for each in given if name in each] or given
    if len(fitting) != 1:
        return None
    argument = fitting[0]
    is_text = isinstance(ast.parse(argument, mode="eval").body, ast.Constant)
    wanted = {ast.literal_eval(argument)} if is_text else _names_in(ast.parse(argument))
    bound = {each for statement in tree.body for each in _bound_by(statement)}
    is_known = is_text or wanted <= bound | vars(builtins).keys()
    if not is_known and (own := tuple(_definitions(tree, {name}, import_path, _DEEPEST))):
        return BackendText(name, own)  # what is passed is a variable of a function
    of_module = () if is_text else _of_module_imported(tree, name, wanted if is_known else None, import_path)
    if of_module or not is_known:
        return BackendText(name, of_module) if of_module else None
    statements = tuple(_definitions(tree, wanted, import_path, _DEEPEST))
    return BackendText(argument.replace("'", '"') if is_text else argument, statements)


def backend_of_file(name: str, import_path: Sequence[str]) -> BackendText | None:
    """The backend that `--backend FILE.py:FUNCTION` names; None for other names, and if it is not found."""
    file, _, function = name.rpartition(":")
    text = _read(Path(file)) if file.endswith(".py") else None
    tree = None if text is None else _parsed(text)
    statements = [] if tree is None else [*_definitions(tree, {function}, import_path, _DEEPEST)]
    return BackendText(function, tuple(statements)) if statements else None


def operator_texts(operators: Mapping[str, OperatorSource], import_path: Sequence[str]) -> tuple[str, ...]:
    """The statements that define and register operators, by `namespace::name`, and what these need.

    There is nothing of an operator whose file is not one of the folders of the script, which is a package's.
    """
    found: dict[str, None] = {}
    files = {each.place.file for each in operators.values()}
    folders = {Path(each).resolve() for each in import_path}
    for file in (each for each in files if not folders.isdisjoint(Path(each).resolve().parents)):
        text = _read(Path(file))
        tree = None if text is None else _parsed(text)
        of_file = {name: each.place.line for name, each in operators.items() if each.place.file == file}
        if tree is not None:
            roots = [*_that_register(tree, of_file)]
            found |= dict.fromkeys(_definitions(tree, set(), import_path, _DEEPEST, roots))
    return tuple(found)


def _that_register(tree: ast.Module, lines: Mapping[str, int]) -> Iterator[ast.stmt]:
    """The statements that define operators, by name and line, and those that register more of them.

    `torch.library.custom_op` gives an object of the function's name; a Library takes the operator's own name.
    """
    defined = [
        each
        for each in tree.body
        if isinstance(each, ast.FunctionDef)
        for line in lines.values()
        if min([each.lineno, *(one.lineno for one in each.decorator_list)]) <= line <= (each.end_lineno or 0)
    ]
    objects = {each.name for each in defined} - {"_"}
    names = {*lines, *(name.partition("::")[2] for name in lines)}
    for statement in tree.body:
        registering: list[ast.AST] = []
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            registering += statement.decorator_list
        elif isinstance(statement, ast.Expr):
            registering.append(statement)
        parts = [part for each in registering for part in ast.walk(each)]
        texts = (
            part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
        )
        if (
            statement in defined
            or objects & {part.id for part in parts if isinstance(part, ast.Name)}
            or names & {re.split(r"[(.]", text)[0] for text in texts}
        ):
            yield statement


def _of_module_imported(
    tree: ast.Module, name: str, wanted: set[str] | None, import_path: Sequence[str]
) -> tuple[str, ...]:
    """What defines the backend of this name in a module beside the script, which is among those `wanted`."""
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            for each in statement.names:
                is_wanted = wanted is None or (each.asname or each.name) in wanted
                module = module_beside(each.name, import_path) if is_wanted else None
                if module is not None and any(name in _bound_by(part) for part in module.body):
                    return tuple(_definitions(module, {name}, import_path, _DEEPEST))
    return ()


def module_beside(name: str, import_path: Sequence[str]) -> ast.Module | None:
    """The source of a module in the folders of the script; None for others."""
    files = [Path(folder, *name.split(".")).with_suffix(".py") for folder in import_path]
    text = next((found for file in files if file.is_file() and (found := _read(file)) is not None), None)
    return None if text is None else _parsed(text)


def _backend_arguments(tree: ast.AST) -> Iterator[ast.expr]:
    """What is passed as `backend` to torch.compile, also through functools.partial."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (each.value for each in node.keywords if each.arg == "backend")


def _definitions(
    tree: ast.Module,
    wanted: set[str],
    import_path: Sequence[str],
    depth: int,
    roots: Collection[ast.stmt] = (),
) -> Iterator[str]:
    """The module's `roots`, the statements that bind these names and what they need, in their order."""
    bound: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _bound_by(statement):
            bound.setdefault(name, []).append(statement)
    bound.pop("_", None)  # a name for what nobody names
    needed: set[ast.stmt] = set(roots)
    known = wanted.union(*map(_names_in, roots))
    names = list(known)
    while names:
        for statement in bound.get(names.pop(), ()):
            if statement not in needed:
                needed.add(statement)
                new = set() if isinstance(statement, (ast.Import, ast.ImportFrom)) else _names_in(statement)
                names += new - known
                known |= new
    for statement in tree.body:
        if isinstance(statement, ast.Import) and any(each.name == "torch" for each in statement.names):
            continue  # every repro imports it
        if statement in needed:
            yield from _inlined(statement, known, import_path, depth)


def _inlined(statement: ast.stmt, known: set[str], import_path: Sequence[str], depth: int) -> Iterator[str]:
    """A statement; in place of an import from a module beside the script, what it defines there."""
    if not isinstance(statement, ast.ImportFrom) or statement.module is None or not depth:
        yield ast.unparse(statement)
        return
    imported = [each for each in statement.names if (each.asname or each.name) in known]
    tree = module_beside(statement.module, import_path)
    if tree is None:
        yield ast.unparse(ast.ImportFrom(statement.module, imported, statement.level))
        return
    yield from _definitions(tree, {each.name for each in imported}, import_path, depth - 1)
    yield from (f"{each.asname} = {each.name}" for each in imported if each.asname)


def _bound_by(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(each.asname or each.name).partition(".")[0] for each in statement.names}
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return {
            each.id
            for each in ast.walk(statement)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
    return set()


def _names_in(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _read(file: Path) -> str | None:
    try:
        return read_plain(file.resolve(), _LARGEST).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None
