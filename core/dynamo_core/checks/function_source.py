"""A function's signature and docstring, read from its source: the file may be a program, and is not run."""

import ast

from ..shared.quick_dataclass import dataclass


@dataclass(frozen=True)
class FunctionSource:
    """None where it cannot be read from the source, or is not there."""

    signature: str | None
    docstring: str | None
    place: str | None


def read_function(file: str | None, name: str) -> FunctionSource:
    """The function `name` (`…:function`) of a file that is there and is valid Python."""
    if file is None:
        return FunctionSource(None, None, None)
    function = name.rpartition(":")[2]
    with open(file, encoding="utf-8") as source:
        tree = ast.parse(source.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            signature = f"({ast.unparse(node.args)}){returns}"
            return FunctionSource(signature, ast.get_docstring(node), f"{file}:{node.lineno}")
        if isinstance(node, ast.ClassDef) and node.name == function:
            return FunctionSource(None, ast.get_docstring(node), f"{file}:{node.lineno}")
    return FunctionSource(None, None, file)
