"""The loop that most of a large graph comes from: Dynamo traces each of its passes by itself.

Which lines lead to a node is in the stack trace that Dynamo keeps with it, without torch's own lines
(torch/_dynamo/output_graph.py, SubgraphTracer.create_proxy; read and run with 2.13). Which loops and function
a line is in is read off the indentation of the file, as `linecache` has it; a line with a loop in itself
(`sum(f(x) for x in xs)`) is its own.
"""

import linecache
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..frames.source import is_installed, user_lines

_LEAST_OPS = 100  # of a graph that is worth a word
_LEAST_SHARE = 0.5
_LEAST_TIMES = 8
# Patterns that `re` compiles at their first use: most programs have no graph that is so large.
_LOOP = r"\s*(?:async\s+)?(?:for|while)\b"
_LOOP_INSIDE = r"[(\[{].*\bfor\b.+\bin\b"
_FUNCTION = r"\s*(?:async\s+)?(?:def|class)\b"
# What `torch.compiler.nested_compile_region` makes of its passes: they share what is compiled.
_SHARED = "invoke_subgraph"
_Line = tuple[str, int]
# What a line is in: loops, the outermost first, and the function's first line.
_Around = tuple[tuple[_Line, ...], _Line | None]


def unrolled_loop(nodes: Iterable[Any]) -> dict[str, Any] | None:
    """What at least half of a large graph's ops come from, most of which stand in it many times.

    That is the outermost such loop; else the innermost function: a loop of torch's calls it (nn.Sequential).
    """
    ops = [node for node in nodes if node.op.startswith("call_")]
    if len(ops) < _LEAST_OPS or any(_SHARED in str(node.target) for node in ops):
        return None
    known: dict[_Line, _Around] = {}
    loops, functions = _Counts(), _Counts()
    callers: dict[str, _Line | None] = {}
    for node in ops:
        stack = list(user_lines(node.meta.get("stack_trace")))
        around = [known.setdefault(line, known.get(line) or _around(*line)) for line in stack]
        op = str(node.target), *stack[-1:]
        loops.add(dict.fromkeys(loop for inside, _ in around for loop in inside), op)
        functions.add(dict.fromkeys(function for _, function in around if function), op)
        for where, _ in stack:
            callers.setdefault(where, _own_line(stack) if is_installed(where) else None)
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
    """How many ops come from each place, and how often each of them is there."""

    def __init__(self) -> None:
        self._of: dict[_Line, Counter[object]] = {}

    def add(self, places: Iterable[_Line], op: object) -> None:
        """An op, and the places that lead to it, the outermost first."""
        for place in places:
            self._of.setdefault(place, Counter())[op] += 1

    def most(self, ops: int, *, outermost: bool) -> tuple[_Line, int, int] | None:
        """From where most come, how many, and how often most of those; None unless half of `ops` repeat."""
        in_order = list(self._of) if outermost else list(reversed(self._of))
        found = max(in_order, key=lambda each: self._of[each].total(), default=None)
        if found is None:
            return None
        total, times = self._of[found].total(), _usual(self._of[found].values())
        return (found, total, times) if total >= _LEAST_SHARE * ops and times >= _LEAST_TIMES else None


def _around(file: str, line: int) -> _Around:
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
        # The end of a signature of several lines stands where its `def` does.
        indent = _indent(text) + (text.lstrip()[0] in ")]}")
    return tuple(reversed(loops)), None


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _usual(counts: Iterable[int]) -> int:
    """How often most of the ops are there: those of a branch are there less often."""
    return Counter(counts).most_common(1)[0][0]


def _own_line(stack: Sequence[_Line]) -> _Line | None:
    """The program's innermost line."""
    return next((line for line in reversed(stack) if not is_installed(line[0])), None)
