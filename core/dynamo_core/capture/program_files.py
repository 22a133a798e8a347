"""Which files are the program's own, and whether they call torch.compile themselves."""

import ast
import linecache
import os
import sys
import sysconfig

_PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _library_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = {os.path.realpath(paths[name]) for name in names if name in paths}
    folders |= {os.path.abspath(paths[name]) for name in names if name in paths}
    return tuple(sorted(folder + os.sep for folder in folders | {_PACKAGE_FOLDER}))


_LIBRARY_FOLDERS = _library_folders()
_verdicts: dict[str, bool] = {}


def is_own(file: str) -> bool:
    """Whether `file` belongs to the program rather than to Python or an installed package."""
    verdict = _verdicts.get(file)
    if verdict is None:
        verdict = _verdicts[file] = _is_own(file)
    return verdict


def _is_own(file: str) -> bool:
    if file.startswith("<"):
        return file in ("<string>", "<stdin>")  # `python -c` and `python -`
    path = os.path.abspath(file)
    parts = path.split(os.sep)
    if "site-packages" in parts or "dist-packages" in parts:
        return False
    return not path.startswith(_LIBRARY_FOLDERS)


def own_modules() -> dict[str, str]:
    """Name and file of the program's own modules that are imported so far."""
    found = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and is_own(file):
            found[name] = file
    return found


def place_of_own_compile_call(file: str) -> str | None:
    """`file:line` of a call of torch.compile that `file` makes whatever its options are, or None.

    A call under an `if` may or may not be made: that is only known when it is. The usual
    `if __name__ == "__main__":` does not count as an `if`.
    """
    text = "".join(linecache.getlines(file)) if os.path.isfile(file) else ""
    return place_of_compile_call(text, file)


def place_of_compile_call(text: str, file: str) -> str | None:
    """The same for source code as text."""
    if "compile" not in text:
        return None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    finder = _CompileCalls()
    finder.visit(tree)
    return f"{file}:{finder.line}" if finder.line is not None else None


class _CompileCalls(ast.NodeVisitor):
    def __init__(self) -> None:
        self.line: int | None = None
        self._names = {"torch.compile", "torch._dynamo.optimize"}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if f"{node.module}.{alias.name}" in ("torch.compile", "torch._dynamo.optimize"):
                self._names.add(alias.asname or alias.name)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.asname and alias.name in ("torch", "torch._dynamo"):
                member = "compile" if alias.name == "torch" else "optimize"
                self._names.add(f"{alias.asname}.{member}")

    def visit_If(self, node: ast.If) -> None:
        if "__name__" in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Conditional: left to run time."""

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if ast.unparse(node) in self._names:
            self._found(node.lineno)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in self._names:
            self._found(node.lineno)

    def _found(self, line: int) -> None:
        if self.line is None:
            self.line = line
