"""What each graph break costs: the time from the graph that ends at it to the graph that begins behind it.

That time holds what runs eagerly there, the rest of the broken frame, and finding the resume function and
checking its guards. Fixing the break saves at most this. Breaks that follow one another with no graph in
between have one such time together. Recompiles that the broken line leads to come on top of that.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..model import CallTimes, CompileId, Process, Recording
from ..shared.quick_dataclass import dataclass
from .break_effects import Crossing, DistinctBreak, distinct_breaks
from .break_recompiles import NO_RECOMPILES, RecompilesOfABreak, recompiles_of
from .recompiles import FrameRecompiles
from .remedies.line_parts import waiting_call

_Compile = tuple[Path, CompileId | None]  # the stream of its process, and its id


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
        """In the whole run, so far as crossings were counted."""
        crossed = self.distinct.crossed
        return None if self.seconds_each is None or crossed is None else self.seconds_each * crossed

    @property
    def waits_at(self) -> str | None:
        """The call in that time that only waits, and still does so where the break is cured."""
        breaks = (each.first for each in (self.distinct, *self.along_with))
        return next(
            (call for each in breaks if each.stack and (call := waiting_call(each.stack[-1].text))), None
        )


def break_costs(recording: Recording) -> list[BreakCost]:
    """Every distinct break, the costliest first; then those that cost an unknown time."""
    costs = costs_of(distinct_breaks(recording))
    return sorted(costs, key=lambda cost: (cost.seconds is None, -(cost.seconds or 0.0)))


def costs_of(breaks: Iterable[DistinctBreak], recompiled: Sequence[FrameRecompiles] = ()) -> list[BreakCost]:
    """What each of all the breaks of a recording costs, in their order."""
    breaks = list(breaks)
    ended: dict[_Compile, DistinctBreak] = {}
    for each in breaks:
        for crossing in each.crossings:
            ended.setdefault((crossing.process.stream, crossing.compile_id), each)
    return [_cost_of(each, ended, recompiled) for each in breaks]


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


def _cost_of(
    each: DistinctBreak, ended: dict[_Compile, DistinctBreak], recompiled: Sequence[FrameRecompiles]
) -> BreakCost:
    others: dict[int, DistinctBreak] = {}
    gaps: list[float] = []
    known: dict[tuple[int, ...], _Samples] = {}
    for crossing in _nearest(each):
        # Where the function that broke has no graph before it, the frame that had inlined it may have one.
        callers = [] if crossing.before or crossing.further_before else _inlined(each, crossing.process)
        stream = crossing.process.stream
        behind = [other for at in crossing.behind if (other := ended.get((stream, at)))]
        ahead = [ended.get((stream, at)) for way in (crossing, *callers) for at in way.ahead]
        ways_after = [crossing, *_called_next(behind, crossing)]
        # Where code was compiled often, what is behind its breaks is the same for all of its versions.
        which = tuple(id(graphs) for way in ways_after for graphs in (way.after, way.further_after))
        if which not in known:
            known[which] = _samples(ways_after)
        gaps += _gaps([crossing, *callers], known[which])
        others |= {id(other): other for other in (*behind, *ahead) if other and other is not each}
    mean = sum(gaps) / len(gaps) if gaps else None
    return BreakCost(each, mean, len(gaps), tuple(others.values()), recompiles_of(each, recompiled))


def _nearest(each: DistinctBreak) -> list[Crossing]:
    """Where the function itself was compiled as a frame, or where the fewest calls had been inlined."""
    return [crossing for crossing in each.crossings if crossing.depth == each.least_depth]


def _inlined(each: DistinctBreak, process: Process) -> list[Crossing]:
    """Where a frame of the process had inlined the function, and broke with it."""
    return [way for way in each.crossings if way.depth > each.least_depth and way.process is process]


def _called_next(behind: Iterable[DistinctBreak], crossing: Crossing) -> list[Crossing]:
    """Of a break further on in a function that had been inlined: the function is then called as a frame."""
    return [way for other in behind for way in _nearest(other) if way.process is crossing.process]


# Times since the call before, each with its position among all, by the callable that was called before.
_Samples = dict[int | None, list[tuple[int, float]]]


def _samples(ways: Iterable[Crossing]) -> _Samples:
    """The times from whatever was called before to a graph behind the break."""
    graphs = {graph.number: graph for way in ways for graph in (*way.after, *way.further_after)}
    times: list[CallTimes] = [graph.times for graph in graphs.values() if graph.times is not None]
    found: _Samples = {}
    for position, call in enumerate(call for each in times for call in each.samples):
        if call.since_previous is not None:
            found.setdefault(call.previous, []).append((position, call.since_previous))
    return found


def _gaps(ways_before: Iterable[Crossing], behind: _Samples) -> list[float]:
    """The times from a graph before the break to one behind it, where nothing else was called in between."""
    before = {graph.calls_index for way in ways_before for graph in (*way.before, *way.further_before)}
    return [seconds for _, seconds in sorted(gap for index in before for gap in behind.get(index, ()))]
