"""Find the loop from which most ops of a large graph come, since Dynamo unrolls loops.

The lines that lead to a node are in the stack trace that Dynamo keeps with it, without torch's own lines
(torch/_dynamo/output_graph.py, SubgraphTracer.create_proxy; read and run with 2.13). The loops and the
function around a line are found by the indentation of the file, read with `linecache`; a line that contains a
loop (`sum(f(x) for x in xs)`) is itself one of its loops.
"""

import linecache
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..frames.source import is_installed, user_lines

_LEAST_OPS = 100  # in the graph
_LEAST_SHARE = 0.5  # of these ops that come from the loop
_LEAST_TIMES = 8  # that most ops of the loop are repeated
# Not compiled here, but at their first use: most programs have no graph that is so large.
_LOOP = r"\s*(?:async\s+)?(?:for|while)\b"
_LOOP_INSIDE = r"[(\[{].*\bfor\b.+\bin\b"
_FUNCTION = r"\s*(?:async\s+)?(?:def|class)\b"
# The op that `torch.compiler.nested_compile_region` makes of each pass: passes share one compiled subgraph.
_SHARED = "invoke_subgraph"
_Line = tuple[str, int]  # file and line number
_Enclosing = tuple[tuple[_Line, ...], _Line | None]  # loops, the outermost first, and the function


def unrolled_loop(nodes: Iterable[Any]) -> dict[str, Any] | None:
    """The loop or function from which at least half of a large graph's ops come, most of them many times.

    It is the outermost such loop; else the innermost such function, which a loop in torch calls
    (nn.Sequential).
    """
    ops = [node for node in nodes if node.op.startswith("call_")]
    if len(ops) < _LEAST_OPS or any(_SHARED in str(node.target) for node in ops):
        return None
    known: dict[_Line, _Enclosing] = {}
    loops, functions = _Counts(), _Counts()
    callers: dict[str, _Line | None] = {}
    for node in ops:
        stack = list(user_lines(node.meta.get("stack_trace")))
        enclosing = [
            known.setdefault(line, known.get(line) or loops_and_function_of(*line)) for line in stack
        ]
        op = str(node.target), *stack[-1:]
        loops.add(dict.fromkeys(loop for loops_of_line, _ in enclosing for loop in loops_of_line), op)
        functions.add(dict.fromkeys(function for _, function in enclosing if function), op)
        for file, _ in stack:
            callers.setdefault(file, _program_line(stack) if is_installed(file) else None)
    for counts, is_loop in ((loops, True), (functions, False)):
        found = counts.most(len(ops), outermost=is_loop)
        if found is not None:
            (file, line), total, times = found
            return {
                "file": file,
                "line": line,
                "text": linecache.getline(file, line).strip(),
                "ops": total,
                "times": times,
                "is_loop": is_loop,
                "called_from": callers[file],
            }
    return None


class _Counts:
    """How often each op comes from each place: a loop or a function."""

    def __init__(self) -> None:
        self._by_place: dict[_Line, Counter[object]] = {}

    def add(self, places: Iterable[_Line], op: object) -> None:
        """Count an op for each of the places that lead to it, which are given the outermost first."""
        for place in places:
            self._by_place.setdefault(place, Counter())[op] += 1

    def most(self, ops: int, *, outermost: bool) -> tuple[_Line, int, int] | None:
        """The place of most ops, how many these are, and how often most of them are repeated.

        None unless it has half of the graph's `ops`, and repeats them.
        """
        places = list(self._by_place) if outermost else list(reversed(self._by_place))
        found = max(places, key=lambda place: self._by_place[place].total(), default=None)
        if found is None:
            return None
        total, times = self._by_place[found].total(), _most_common(self._by_place[found].values())
        return (found, total, times) if total >= _LEAST_SHARE * ops and times >= _LEAST_TIMES else None


def loops_and_function_of(file: str, line: int) -> _Enclosing:
    """The loops and the function around a line."""
    text = linecache.getline(file, line)
    loops = [(file, line)] if re.search(_LOOP_INSIDE, text) else []
    indent = _indent(text)
    for above in range(line - 1, 0, -1):
        text = linecache.getline(file, above)
        if not text.strip() or text.lstrip().startswith("#") or _indent(text) >= indent:
            continue
        if re.match(_FUNCTION, text):
            return tuple(reversed(loops)), (file, above)
        if re.match(_LOOP, text):
            loops.append((file, above))
        # The last line of a signature of several lines has the same indentation as its `def`.
        indent = _indent(text) + (text.lstrip()[0] in ")]}")
    return tuple(reversed(loops)), None


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _most_common(counts: Iterable[int]) -> int:
    """How often most of the ops are repeated; the ops of a branch are repeated less often."""
    return Counter(counts).most_common(1)[0][0]


def _program_line(stack: Sequence[_Line]) -> _Line | None:
    """The program's innermost line."""
    return next((line for line in reversed(stack) if not is_installed(line[0])), None)
