"""Whether the program waits for what an operation raises, inside the very frame that is compiled.

Dynamo's bytecode calls a graph at its beginning, before any `try` of the frame: what the graph raises for its
data (a matrix that is not positive definite, an index out of range) would pass by the `except` and `finally`
that wait for it. A `finally` counts in the program's own files: in libraries it tidies up around models.
"""

import ast
import functools
import linecache
from typing import Any

from ..frames.graph_lines import user_lines
from ..frames.program_files import is_own


def place_of_caught_operation(gm: Any) -> tuple[str, int] | None:
    """The file and line of an operation in the body of a `try`, if the graph has one."""
    for node in gm.graph.nodes:
        if node.op.startswith("call_"):
            for file, line in user_lines(node.meta.get("stack_trace")):
                if "/torch/" not in file and any(a <= line <= b for a, b in _caught_lines(file)):
                    return file, line
    return None


@functools.lru_cache(maxsize=1000)
def _caught_lines(file: str) -> list[tuple[int, int]]:
    source = "".join(linecache.getlines(file))
    if "try:" not in source:
        return []
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [
        (node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Try) and (node.handlers or is_own(file))
    ]
