"""Which files are the program's own, and where they call torch.compile."""

import ast
import linecache
import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

_PACKAGE_FOLDER = os.path.abspath(str(__spec__.origin)).rpartition(f"{os.sep}capture{os.sep}")[0]
_COMPILE_FUNCTIONS = ("torch.compile", "torch._dynamo.optimize")


def _library_folders() -> tuple[str, ...]:
    """The folders of the standard library and of our package; installed packages are found by folder name.

    `sysconfig` has the same folders, but takes 2 ms to import.
    """
    version = "python{}.{}".format(*sys.version_info)
    prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    standard = {os.path.join(prefix, sys.platlibdir, version) for prefix in prefixes}
    standard.add(os.path.dirname(os.__file__))
    folders = {absolute(folder) for folder in standard for absolute in (os.path.realpath, os.path.abspath)}
    return tuple(sorted(folder + os.sep for folder in folders | {_PACKAGE_FOLDER}))


_LIBRARY_FOLDERS = _library_folders()
_verdicts: dict[str, bool] = {}


def is_own(file: str) -> bool:
    """Whether `file` belongs to the program rather than to Python or an installed package."""
    if file.startswith("<"):  # `python -c`, `python -`, a cell that IPython runs without a kernel
        return file in ("<string>", "<stdin>") or file.startswith("<ipython-input-")
    verdict = _verdicts.get(file)
    if verdict is None:
        verdict = _verdicts[file] = _is_own(file)
    return verdict


def _is_own(file: str) -> bool:
    path = os.path.abspath(file)
    parts = path.split(os.sep)
    if "site-packages" in parts or "dist-packages" in parts:
        return False
    return not path.startswith(_LIBRARY_FOLDERS)


def own_modules() -> dict[str, str]:
    """The names and files of the program's own modules that are imported so far."""
    found = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and is_own(file):
            found[name] = file
    return found


def place_of_compile_call_in_progress() -> str | None:
    """The `file:line` that is calling torch.compile; None in torch itself and in a library being imported.

    torch compiles parts of its own (flex_attention), and libraries decorate their functions, which may never
    be called: neither makes this a program that calls torch.compile itself.
    """
    import torch

    torch_folder = os.path.dirname(torch.__file__) + os.sep
    entry_points = tuple(
        torch_folder + file
        for file in ("__init__.py", "compiler/__init__.py", "_compile.py", "nn/modules/module.py", "_dynamo/")
    )
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((*entry_points, _PACKAGE_FOLDER)):
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith(torch_folder):
        return None
    caller = frame
    while frame is not None and not is_own(frame.f_code.co_filename):
        if frame.f_code.co_name == "<module>":
            return None
        frame = frame.f_back
    return f"{caller.f_code.co_filename}:{caller.f_lineno}"


def place_of_compile_call(text: str, file: str) -> str | None:
    """The `file:line` of a call of torch.compile that source code makes whatever its options are, or None."""
    return CompileCalls().place_in({file: text})


class CompileCalls:
    """Looks for a call of torch.compile that the program makes whatever its options are, file by file.

    Code under a condition, or in a function that is mentioned only there, does not count: whether it runs is
    known only when it does. The usual `if __name__ == "__main__":` is not taken for a condition. A function
    may be mentioned in a file that imports it.
    """

    def __init__(self) -> None:
        self._not_parsed: dict[str, str] = {}
        self._may_compile = False
        self._finders: dict[str, _UnconditionalCompileCalls] = {}

    def place_in_files(self, files: Iterable[str]) -> str | None:
        """The `file:line` in these files, imported since, or in those before; None if there is none."""
        return self.place_in(
            {file: "".join(linecache.getlines(file)) if os.path.isfile(file) else "" for file in files}
        )

    def place_in(self, texts: Mapping[str, str]) -> str | None:
        """Like `place_in_files`, of texts by the names of their files."""
        self._not_parsed |= texts
        self._may_compile |= any("compile" in text and "torch" in text for text in texts.values())
        if not (self._may_compile and texts):  # most programs: nothing is parsed
            return None
        for file, text in self._not_parsed.items():
            tree = _parsed(text)
            if tree is not None:
                self._finders[file] = _UnconditionalCompileCalls(tree)
        self._not_parsed.clear()
        while True:
            for file, finder in self._finders.items():
                if finder.line is not None:
                    return f"{file}:{finder.line}"
            mentioned = set[str]().union(*(each.mentioned for each in self._finders.values()))
            reached = [each.reach(mentioned) for each in self._finders.values()]
            if not any(reached):
                return None


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python has shown the program's SyntaxWarnings already
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


class _UnconditionalCompileCalls(ast.NodeVisitor):
    """Visits the code that always runs: the module level, and functions and classes mentioned from there.

    `mentioned` are names that it imports and uses there; `line` is that of the first call of torch.compile.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.line: int | None = None
        self.mentioned: set[str] = set()
        self._names = set(_COMPILE_FUNCTIONS)
        self._imported: dict[str, str] = {}
        self._defined = {
            node.name: node
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        }
        self._top_level = {name for name, node in self._defined.items() if node in tree.body}
        self.visit(tree)

    def reach(self, names: set[str]) -> bool:
        """Visit what other files mention by these names; whether there was anything new."""
        found = [name for name in self._top_level & names if name in self._defined]
        for name in found:
            self._visit_defined(name)
        return bool(found)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self._imported[alias.asname or alias.name] = alias.name
            if f"{node.module}.{alias.name}" in _COMPILE_FUNCTIONS:
                self._names.add(alias.asname or alias.name)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._imported[alias.asname or alias.name] = alias.name
            if alias.asname and alias.name in ("torch", "torch._dynamo"):
                member = "compile" if alias.name == "torch" else "optimize"
                self._names.add(f"{alias.asname}.{member}")

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Skip it: it may never be called."""

    def visit_If(self, node: ast.If) -> None:
        if "__name__" in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.visit(node.values[0])

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """Skip it: it runs only when something fails."""

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = ast.unparse(node)
        if name in self._names:
            self._note_line(node.lineno)
        if name.removesuffix(f".{node.attr}") in self._imported:  # a module's function
            self.mentioned.add(node.attr)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            return
        if node.id in self._names:
            self._note_line(node.lineno)
        if node.id in self._imported:
            self.mentioned.add(self._imported[node.id])
        self._visit_defined(node.id)

    def _visit_defined(self, name: str) -> None:
        """The body of a function, or of a class's methods, unless it was visited."""
        defined = self._defined.pop(name, None)
        if isinstance(defined, ast.ClassDef):
            methods = [part for part in defined.body if isinstance(part, ast.FunctionDef)]
            for statement in [line for method in methods for line in method.body]:
                self.visit(statement)
        elif defined is not None:
            for statement in defined.body:
                self.visit(statement)

    def _note_line(self, line: int) -> None:
        if self.line is None:
            self.line = line


def cells_of_program() -> list[str]:
    """The code cells of the notebook that this process runs, in order, without the empty ones.

    There are none where it runs something else, or is a kernel, which has no file.
    Source: IPython/core/shellapp.py (_exec_file: the notebook is sys.argv[0]) and interactiveshell.py
    (safe_execfile_ipy: nbformat reads it), read in 9.18; nbformat/reader.py (reads), read in 5.11.
    """
    file = sys.argv[0] if getattr(sys, "argv", None) else ""
    nbformat = sys.modules.get("nbformat")
    if nbformat is None or not file.endswith(".ipynb"):
        return []
    try:
        with open(file, encoding="utf-8") as stream:
            # Not nbformat.read, which would print once more, after IPython, what is not valid in it.
            cells = nbformat.convert(nbformat.reader.reads(stream.read()), 4).cells
        return [cell.source for cell in cells if cell.cell_type == "code" and cell.source.strip()]
    except Exception:  # the program has moved or changed it since; nbformat raises many kinds of errors then
        return []
