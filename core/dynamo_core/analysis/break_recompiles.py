"""Recompiles that the line of a graph break leads to, so that they are part of what the break costs.

What goes on behind the break is compiled again for a value that was made at the break: that ends with the
break, since the value is then inside of one graph. And a line that makes a list longer, on whose length there
is a guard, has its own function compiled again: that ends where the line is moved out of what is compiled.
"""

from collections.abc import Iterable

from ..model import Compile, GraphBreak, GuardFailure, function_of, resumed_function
from ..shared.quick_dataclass import dataclass
from .break_effects import DistinctBreak
from .guard_failures import is_of_a_break, lengthened_by
from .recompiles import FrameRecompiles
from .remedies.line_parts import targets_of

# Kinds of breaks that the program asks for: they are meant to stay, and what varies behind has its remedy.
_ASKED_FOR = ("torch.compiler.disable", "graph_break()")


@dataclass(frozen=True)
class RecompilesOfABreak:
    """What they took in all; `lengthened` is what the line itself makes longer or shorter in each call."""

    seconds: float = 0.0
    lengthened: str | None = None


NO_RECOMPILES = RecompilesOfABreak()


def recompiles_of(each: DistinctBreak, recompiled: Iterable[FrameRecompiles]) -> RecompilesOfABreak:
    """Those of one break; none where the program itself asks for it."""
    if any(words in each.first.kind for words in _ASKED_FOR) or not each.first.stack:
        return NO_RECOMPILES
    broken = {(where[0], where[1]) for each_time in each.occurrences if (where := _resumed_at(each_time))}
    made = set(targets_of(each.first.stack[-1].text))
    took, lengthened = 0.0, None
    for frame in recompiled:
        is_behind = resumed_function(frame.name) in broken
        for compile_, failure in _with_newest_failure(frame):
            if by_its_line := _lengthened_by(each.first, frame, failure):
                lengthened = by_its_line
            elif not (is_behind and _is_of(failure, made)):
                continue
            took += compile_.seconds or 0.0
    return RecompilesOfABreak(took, lengthened)


def _with_newest_failure(frame: FrameRecompiles) -> Iterable[tuple[Compile, GuardFailure]]:
    return ((compile_, failure) for compile_ in frame.compiles for failure in frame.failures(compile_)[:1])


def _lengthened_by(graph_break: GraphBreak, frame: FrameRecompiles, failure: GuardFailure) -> str | None:
    """What the guard that failed is on, if the very line that breaks makes that longer or shorter."""
    line = graph_break.stack[-1]
    found = lengthened_by(line.text, failure)
    return found if found and frame.place_of(failure) == line.place else None


def _resumed_at(graph_break: GraphBreak) -> tuple[str, int] | None:
    """The function that goes on behind it, and from which line."""
    if not graph_break.stack:
        return None
    outermost = graph_break.stack[0]
    return function_of(outermost.function), outermost.place.line


def _is_of(failure: GuardFailure, made: set[str]) -> bool:
    source = failure.source or ""
    return is_of_a_break(failure) or source.partition("[")[0].partition(".")[0] in made
