"""Recompiles that the line of a graph break leads to, so that they are part of what the break costs.

What goes on behind the break is compiled again for a value that was made at the break: that ends with the
break, since the value is then inside of one graph. And a line that makes a list longer, on whose length there
is a guard, has its own function compiled again: that ends where the line is moved out of what is compiled.
"""

from collections.abc import Iterable

from ..model import Compile, GraphBreak, GuardFailure, Place, Process, function_of, resumed_function
from ..shared.quick_dataclass import dataclass
from .break_effects import DistinctBreak
from .guard_failures import is_of_a_break, is_of_length, lengthened_by
from .line_parts import targets_of
from .recompiles import FrameRecompiles
from .time.in_the_run import in_the_run

# Kinds of breaks that the program asks for: they are meant to stay, and what varies behind has its remedy.
_ASKED_FOR = ("torch.compiler.disable", "graph_break()")


@dataclass(frozen=True)
class RecompilesOfABreak:
    """What they took in all; `lengthened` is what the line itself makes longer or shorter in each call."""

    seconds: float = 0.0
    lengthened: str | None = None


NO_RECOMPILES = RecompilesOfABreak()


class RecompilesByBreak:
    """The recompiles of a recording, to be asked for those of each break."""

    def __init__(self, recompiled: Iterable[FrameRecompiles]) -> None:
        # Each with the newest entry's failure.
        self._all: list[tuple[Process, Compile, GuardFailure]] = []
        self._resuming: dict[tuple[str, int], list[int]] = {}  # positions, by what is resumed, and where
        self._guarding: dict[Place | None, list[int]] = {}  # of those whose guard is on a length, by its line
        for frame in recompiled:
            resumed = resumed_function(frame.name)
            for compile_ in frame.compiles:
                for failure in frame.failures(compile_)[:1]:
                    if resumed is not None:
                        self._resuming.setdefault(resumed, []).append(len(self._all))
                    if is_of_length(failure):
                        self._guarding.setdefault(frame.place_of(failure), []).append(len(self._all))
                    self._all.append((frame.process, compile_, failure))

    def of(self, each: DistinctBreak) -> RecompilesOfABreak:
        """Those of one break; none where the program itself asks for it."""
        if any(words in each.first.kind for words in _ASKED_FOR) or not each.first.stack:
            return NO_RECOMPILES
        line = each.first.stack[-1]
        broken = {where for each_time in each.occurrences if (where := _resumed_at(each_time))}
        behind = {position for where in broken for position in self._resuming.get(where, ())}
        made = set(targets_of(line.text))
        took: list[tuple[Process, float]] = []
        lengthened = None
        guarding = {*self._guarding.get(line.place, ())}
        for position in sorted(behind | guarding):
            process, compile_, failure = self._all[position]
            by_its_line = lengthened_by(line.text, failure) if position in guarding else None
            if by_its_line:
                lengthened = by_its_line
            elif not (position in behind and _is_of(failure, made)):
                continue
            took.append((process, compile_.seconds or 0.0))
        return RecompilesOfABreak(in_the_run(took), lengthened)


def _resumed_at(graph_break: GraphBreak) -> tuple[str, int] | None:
    """The function that goes on behind it, and from which line."""
    if not graph_break.stack:
        return None
    outermost = graph_break.stack[0]
    return function_of(outermost.function), outermost.place.line


def _is_of(failure: GuardFailure, made: set[str]) -> bool:
    source = failure.source or ""
    return is_of_a_break(failure) or source.partition("[")[0].partition(".")[0] in made
