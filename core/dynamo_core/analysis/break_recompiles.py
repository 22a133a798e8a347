"""Recompiles that a graph break leads to: of what goes on behind it, for a value that was made at the break.

They end with the break: the value is then inside of one graph.
"""

from collections.abc import Iterable

from ..model import GraphBreak, GuardFailure, function_of, resumed_function
from .break_effects import DistinctBreak
from .guard_failures import is_of_a_break
from .recompiles import FrameRecompiles
from .remedies.line_parts import targets_of

# Kinds of breaks that the program asks for: they are meant to stay, and what varies behind has its remedy.
_ASKED_FOR = ("torch.compiler.disable", "graph_break()")


def seconds_of_recompiles_behind(each: DistinctBreak, recompiled: Iterable[FrameRecompiles]) -> float:
    """What the recompiles took in all; nothing where the program itself asks for the break."""
    if any(words in each.first.kind for words in _ASKED_FOR):
        return 0.0
    broken = {(where[0], where[1]) for each_time in each.occurrences if (where := _resumed_at(each_time))}
    made = set(targets_of(each.first.stack[-1].text)) if each.first.stack else set()
    return sum(
        compile_.seconds or 0.0
        for frame in recompiled
        if resumed_function(frame.name) in broken
        for compile_ in frame.compiles
        if any(_is_of(failure, made) for failure in frame.failures(compile_)[:1])
    )


def _resumed_at(graph_break: GraphBreak) -> tuple[str, int] | None:
    """The function that goes on behind it, and from which line."""
    if not graph_break.stack:
        return None
    outermost = graph_break.stack[0]
    return function_of(outermost.function), outermost.place.line


def _is_of(failure: GuardFailure, made: set[str]) -> bool:
    source = failure.source or ""
    return is_of_a_break(failure) or source.partition("[")[0].partition(".")[0] in made
