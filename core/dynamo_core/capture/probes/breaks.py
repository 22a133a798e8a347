"""Probe: graph breaks as Dynamo counts them, in `torch._dynamo.utils.graph_break_reasons`.

Source: torch/_dynamo/output_graph.py (GraphCompileReason.__post_init__), the same in torch 2.8 to 2.15.
That list has breaks that `counters["graph_break"]` lacks (a data-dependent branch) and, unlike the trace's
records, no entry for a wasted attempt.
"""

import linecache
import sys
from collections.abc import Callable
from itertools import takewhile
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.records import GraphBroke
from ..frames.source import current_compile_id
from .unrolled_loops import loops_and_function_of

if TYPE_CHECKING:
    from ..engine_parts import EngineParts

_LINES_BEFORE = 2  # the line that broke
_LINES_BEHIND = 8  # it, of the same function: what becomes of what the line gives
_LINES_OF_A_LOOP = 12  # that may stand between the head of a loop and a break in it


def install(output_graph: ModuleType, parts: "EngineParts") -> None:
    """Record each reason that torch makes for a break."""

    def __post_init__(proceed: Callable[..., Any], reason: Any) -> None:
        proceed(reason)
        if reason.graph_break:
            parts.stream.record(described_break(reason.reason, reason.user_stack), current_compile_id())

    parts.probes.hook(output_graph.GraphCompileReason, "__post_init__", "graph breaks", __post_init__)


def described_break(reason: str, user_stack: Any) -> GraphBroke:
    """The record of a graph break: torch's reason, the user's stack, and the text around its last line."""
    stack = [
        {"file": frame.filename, "line": frame.lineno, "name": frame.name, "text": frame.line}
        for frame in user_stack
    ]
    return GraphBroke(
        reason=reason,
        user_stack=stack,
        around=_lines_around(user_stack),
        grad_enabled=sys.modules["torch"].is_grad_enabled(),
    )


def _lines_around(user_stack: Any) -> dict[int, str]:
    """The text of the line that broke and of its neighbours, by number; empty where there is no file.

    They begin with the head of the loop around it, where that is near.
    """
    if not user_stack:
        return {}
    innermost = user_stack[-1]
    lines = linecache.getlines(innermost.filename)
    loops, function = loops_and_function_of(innermost.filename, innermost.lineno)
    heads = [head for _, head in loops if head >= innermost.lineno - _LINES_OF_A_LOOP]
    first = max(min([innermost.lineno - _LINES_BEFORE, *heads[-1:]]), 1)
    outside = 0 if function is None else _indentation(lines[function[1] - 1])
    behind = lines[innermost.lineno : innermost.lineno + _LINES_BEHIND]
    inside = takewhile(lambda line: not line.strip() or _indentation(line) > outside, behind)
    shown = [*lines[first - 1 : innermost.lineno], *(behind if function is None else inside)]
    return {number: line.rstrip("\n") for number, line in enumerate(shown, first)}


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
