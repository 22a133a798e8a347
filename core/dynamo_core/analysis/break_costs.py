"""What each graph break costs: the time from the graph that ends at it to the graph that begins behind it.

That time holds what runs eagerly there, the rest of the broken frame, and finding the resume function and
checking its guards. Fixing the break saves at most this. Breaks that follow one another with no graph in
between have one such time together. Recompiles that the broken line leads to come on top of that.
"""

from collections.abc import Iterable, Sequence

from ..shared.quick_dataclass import dataclass
from .break_effects import DistinctBreak
from .break_gaps import Gaps
from .break_recompiles import NO_RECOMPILES, RecompilesByBreak, RecompilesOfABreak
from .line_parts import waiting_call
from .recompiles import FrameRecompiles
from .time.in_the_run import in_the_run


@dataclass(frozen=True)
class BreakCost:
    """A break and what it costs. Seconds are None where no crossing was timed; `timed` says how many were.

    `along_with` are the other breaks in the same time, in which no graph runs between them and this one.
    """

    distinct: DistinctBreak
    seconds_each: float | None
    timed: int
    along_with: tuple[DistinctBreak, ...] = ()
    recompiles: RecompilesOfABreak = NO_RECOMPILES

    @property
    def seconds(self) -> float | None:
        """In the whole run, so far as crossings were counted; of ranks in the one that crossed it most."""
        each, crossed = self.seconds_each, self.distinct.crossed_in
        if each is None or crossed is None:
            return None
        return in_the_run((process, each * count) for process, count in crossed)

    @property
    def waits_at(self) -> str | None:
        """The call in that time that only waits, and still does so where the break is cured."""
        breaks = (each.first for each in (self.distinct, *self.along_with))
        return next(
            (call for each in breaks if each.stack and (call := waiting_call(each.stack[-1].text))), None
        )


def costs_of(breaks: Iterable[DistinctBreak], recompiled: Sequence[FrameRecompiles] = ()) -> list[BreakCost]:
    """What each of all the breaks of a recording costs, in their order."""
    breaks = list(breaks)
    gaps, recompiles = Gaps(breaks), RecompilesByBreak(recompiled)
    return [
        BreakCost(each, gap.seconds_each, gap.timed, gap.along_with, recompiles.of(each))
        for each in breaks
        for gap in [gaps.of(each)]
    ]


def seconds_in_all(costs: Iterable[BreakCost]) -> float | None:
    """What they cost together, None if that of none is known.

    Of those that share a time, directly, the longest counts.
    """
    known = sorted(
        (cost for cost in costs if cost.seconds is not None), key=lambda cost: -(cost.seconds or 0.0)
    )
    counted: set[int] = set()
    total = 0.0
    for cost in known:
        breaks = {id(each) for each in (cost.distinct, *cost.along_with)}
        if not breaks & counted:
            counted |= breaks
            total += cost.seconds or 0.0
    return total if known else None
