"""A script with the modules beside it written into it, so that it stands alone.

What a module defines gets the module's name in front. What cannot be written so (a module that is passed on
as an object, `from module import *`) leaves the script as it is.
"""

import ast
from collections.abc import Collection, Sequence
from typing import Any

from .definitions import module_beside

_MOST_LINES = 3_000  # of all together


class _CannotInline(Exception):
    pass


def with_modules_inlined(text: str, import_path: Sequence[str]) -> str | None:
    """The text without imports of modules beside the script; None where it has none, or needs them."""
    inliner = _Inliner(import_path)
    try:
        body = inliner.body_of(ast.parse(text))
    except (_CannotInline, SyntaxError, RecursionError):
        return None
    if not inliner.known:
        return None
    imports: set[str] = set()
    once = [each for each in body if not _is_repeated(each, imports)]
    inlined = ast.unparse(ast.fix_missing_locations(ast.Module(once, [])))
    return inlined if inlined.count("\n") < _MOST_LINES else None


class _Inliner:
    """Writes each module once, where it is imported first."""

    def __init__(self, import_path: Sequence[str]) -> None:
        self.known: dict[str, dict[str, str]] = {}  # a module's own names, and what they are called here
        self._import_path = import_path

    def is_beside(self, module: str) -> bool:
        """Whether it is a module beside the script."""
        return module_beside(module, self._import_path) is not None

    def body_of(self, tree: ast.Module) -> list[ast.stmt]:
        """The statements of a module, those of the modules that it imports in place of the imports."""
        imports = _Imports(self)
        body: list[ast.stmt] = []
        for statement in tree.body:
            is_import = isinstance(statement, (ast.Import, ast.ImportFrom))
            instead = imports.visit(statement)
            # Imports in a function are made before it is defined: their modules define functions, too.
            body += imports.take_modules()
            body += instead if isinstance(instead, list) else [instead]
            if is_import and isinstance(body[-1], ast.Pass):
                body.pop()
        uses = _Uses(imports.modules)
        body = [uses.visit(each) for each in body]
        names = [each.id for part in body for each in ast.walk(part) if isinstance(each, ast.Name)]
        if set(names) & imports.modules.keys():
            raise _CannotInline
        return body

    def module(self, name: str) -> list[ast.stmt]:
        """The statements of a module, with its name before those that it defines; none the second time."""
        if name in self.known:
            return []
        tree = module_beside(name, self._import_path)
        assert tree is not None
        own = {each for statement in tree.body for each in _defined_by(statement)}
        own |= {
            each.asname or each.name
            for statement in tree.body
            if isinstance(statement, ast.ImportFrom) and self.is_beside(statement.module or "")
            for each in statement.names
        }
        self.known[name] = {each: f"{name.replace('.', '_')}_{each}" for each in own}
        body = [each for each in self.body_of(tree) if not _is_left_out(each)]
        renamed = _Renamed(self.known[name])
        return [renamed.visit(each) for each in body]


class _Imports(ast.NodeTransformer):
    """Takes imports of modules beside the script out, and notes by which name each is known."""

    def __init__(self, inliner: _Inliner) -> None:
        self.modules: dict[str, dict[str, str]] = {}
        self._inliner = inliner
        self._pending: list[ast.stmt] = []

    def take_modules(self) -> list[ast.stmt]:
        """The statements of the modules that were met since the last call."""
        taken, self._pending = self._pending, []
        return taken

    def visit_Import(self, node: ast.Import) -> Any:
        """The import without modules beside the script."""
        beside = [each for each in node.names if self._inliner.is_beside(each.name)]
        for each in beside:
            if "." in each.name and not each.asname:
                raise _CannotInline
            self._meet(each.name)
            self.modules[each.asname or each.name] = self._inliner.known[each.name]
        others = [each for each in node.names if each not in beside]
        return ast.Import(others) if others else ast.Pass()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """For each name of a module beside the script an assignment."""
        if node.level:
            raise _CannotInline
        module = node.module or ""
        instead: list[ast.stmt] = []
        others: list[ast.alias] = []
        for each in node.names:
            name, of_package = each.asname or each.name, f"{module}.{each.name}"
            if self._inliner.is_beside(of_package):
                self._meet(of_package)
                self.modules[name] = self._inliner.known[of_package]
            elif not self._inliner.is_beside(module):
                others.append(each)
            else:
                self._meet(module)
                known = self._inliner.known[module].get(each.name, each.name)
                if each.name == "*" or (known == each.name and each.asname):
                    raise _CannotInline
                instead += [] if known == name else [_assignment(name, known)]
        return [*([ast.ImportFrom(module, others, 0)] if others else []), *instead] or ast.Pass()

    def _meet(self, module: str) -> None:
        self._pending += self._inliner.module(module)


class _Uses(ast.NodeTransformer):
    """Writes `module.name` as the name has been written."""

    def __init__(self, modules: dict[str, dict[str, str]]) -> None:
        self._modules = modules

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """The name that it stands for."""
        if isinstance(node.value, ast.Name) and node.value.id in self._modules:
            # What the module has imported has its own name here, too.
            return ast.Name(self._modules[node.value.id].get(node.attr, node.attr), node.ctx)
        return self.generic_visit(node)


class _Renamed(ast.NodeTransformer):
    """Renames what a module defines, but not the arguments of functions by the same name."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> Any:
        """The name with the module's in front."""
        return ast.Name(self._names.get(node.id, node.id), node.ctx)

    def visit_Global(self, node: ast.Global) -> Any:
        """The names with the module's in front."""
        return ast.Global([self._names.get(each, each) for each in node.names])

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """A class, whose methods and other attributes keep their names."""
        node.name = self._names.get(node.name, node.name)
        node.bases = [self.visit(each) for each in node.bases]
        node.keywords = [self.visit(each) for each in node.keywords]
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        inner = self._without({name for each in node.body for name in _defined_by(each)})
        node.body = [
            self._function(each)
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
            else inner.visit(each)
            for each in node.body
        ]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
        """A function that is no method."""
        node.name = self._names.get(node.name, node.name)
        return self._function(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        """A lambda, whose arguments keep their names."""
        return self._without(_arguments(node.args)).generic_visit(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.args = self.visit(node.args)
        inner = self._without(_arguments(node.args))
        node.body = [inner.visit(each) for each in node.body]
        return node

    def _without(self, names: Collection[str]) -> "_Renamed":
        return _Renamed({was: now for was, now in self._names.items() if was not in names})


def _arguments(node: ast.arguments) -> set[str]:
    return {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}


def _assignment(name: str, value: str) -> ast.stmt:
    return ast.parse(f"{name} = {value}").body[0]


def _defined_by(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module defines; what it imports keeps its name."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    inner = [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.stmt)]
    stored = {
        each.id
        for part in ast.iter_child_nodes(statement)
        if not isinstance(part, ast.stmt)
        for each in ast.walk(part)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    return stored.union(*map(_defined_by, inner))


def _is_repeated(statement: ast.stmt, imports: set[str]) -> bool:
    """Whether it is an import that is among these; it is, afterwards."""
    if not isinstance(statement, (ast.Import, ast.ImportFrom)):
        return False
    text = ast.unparse(statement)
    is_known = text in imports
    imports.add(text)
    return is_known


def _is_left_out(statement: ast.stmt) -> bool:
    """Whether it belongs to the module alone: what is done only where it is the script, and its docstring."""
    if isinstance(statement, ast.If):
        return "__name__" in ast.unparse(statement.test)
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or (isinstance(statement, ast.ImportFrom) and statement.module == "__future__")
