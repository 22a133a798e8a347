"""What each graph break costs: the time from the graph that ends at it to the graph that begins behind it.

That time holds what runs eagerly there, the rest of the broken frame, and finding the resume function and
checking its guards. Fixing the break saves at most this. Breaks that follow one another with no graph in
between have one such time together. Recompiles that the broken line leads to come on top of that.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..model import (
    Compile,
    CompileId,
    Graph,
    GraphBreak,
    GuardFailure,
    Place,
    Process,
    function_of,
    resumed_function,
)
from ..shared.quick_dataclass import dataclass
from .break_effects import Crossing, DistinctBreak
from .guard_failures import is_of_a_break, is_of_length, lengthened_by
from .recompiles import FrameRecompiles
from .source_lines import targets_of, waiting_call
from .time.wall import across_ranks
from .words import frame_name, number, place, seconds

# How long it takes from a graph before a break to one behind it, and which other breaks are in between.


_T = TypeVar("_T")
_Compile = tuple[Path, CompileId | None]  # the stream of its process, and its id


class Gap(NamedTuple):
    """The seconds at each crossing, on average, None where none was timed; `timed` says how many were.

    `along_with` are the other breaks in the same time.
    """

    seconds_each: float | None
    timed: int
    along_with: tuple[DistinctBreak, ...]


class Gaps:
    """Those of all breaks of a recording.

    Code may have been compiled any number of times: what is before or behind the breaks of all its versions
    is then the same tuple (`break_effects.Crossing`), and is gone through once.
    """

    def __init__(self, breaks: Sequence[DistinctBreak]) -> None:
        self._ended: dict[_Compile, DistinctBreak] = {}
        for each in breaks:
            for crossing in each.crossings:
                self._ended.setdefault((crossing.process.stream, crossing.compile_id), each)
        crossings = [crossing for each in breaks for crossing in each.crossings]
        self._calls = _calls_of(crossings)
        self._behind: dict[tuple[object, ...], _Behind] = {}
        self._first_behind: dict[tuple[int, Path], frozenset[int]] = {}

    def of(self, each: DistinctBreak) -> Gap:
        """The gap at one of the breaks."""
        others: dict[int, DistinctBreak] = {}
        found: dict[tuple[object, ...], list[float]] = {}
        times: Counter[tuple[object, ...]] = Counter()
        inlined = _inlined(each)
        for crossing in _nearest(each):
            stream = crossing.process.stream
            ahead = id(crossing.before), id(crossing.further_before), id(crossing.ahead)
            same = stream, *ahead, *_key_behind(crossing)
            times[same] += 1
            if same in found:
                continue
            # Where the function that broke has no graph before it, a frame that had inlined it may have one.
            callers = [] if crossing.before or crossing.further_before else inlined.get(stream, [])
            behind = self._behind_of(crossing)
            found[same] = self._seconds([crossing, *callers], behind)
            before = _in_any(way.ahead for way in (crossing, *callers))
            beside = (other for at in before if (other := self._ended.get((stream, at))))
            others |= {id(other): other for other in (*behind.breaks, *beside) if other is not each}
        timed = sum(len(gaps) * times[same] for same, gaps in found.items())
        seconds = sum(gap * times[same] for same, gaps in found.items() for gap in gaps)
        return Gap(seconds / timed if timed else None, timed, tuple(others.values()))

    def _seconds(self, ways_before: Sequence[Crossing], behind: "_Behind") -> list[float]:
        """The times from a graph before the break to one behind it, with no other call in between."""
        graphs = _in_any(graphs for way in ways_before for graphs in (way.before, way.further_before))
        stream = ways_before[0].process.stream
        return [
            seconds
            for index in dict.fromkeys(graph.calls_index for graph in graphs)
            for graph, seconds in self._calls.get((stream, index), ())
            if any(graph in graphs_behind for graphs_behind in behind.graphs)
        ]

    def _behind_of(self, crossing: Crossing) -> "_Behind":
        stream = crossing.process.stream
        key = stream, *_key_behind(crossing)
        if key not in self._behind:
            ended = (self._ended.get((stream, at)) for at in crossing.behind)
            breaks = list({id(other): other for other in ended if other is not None}.values())
            own = _numbers([crossing.after, crossing.further_after])
            called_next = [self._called_next(other, stream) for other in breaks]
            self._behind[key] = _Behind([own, *called_next], breaks)
        return self._behind[key]

    def _called_next(self, other: DistinctBreak, stream: Path) -> frozenset[int]:
        """The graphs behind the next break: in a function that had been inlined, it is a frame's own."""
        key = id(other), stream
        if key not in self._first_behind:
            ways = [way for way in _nearest(other) if way.process.stream == stream]
            graphs = (graphs for way in ways for graphs in (way.after, way.further_after))
            self._first_behind[key] = _numbers(graphs)
        return self._first_behind[key]


class _Behind(NamedTuple):
    """What is behind a break: the numbers of the graphs, in any of several sets, and the next breaks."""

    graphs: list[frozenset[int]]
    breaks: list[DistinctBreak]


def _key_behind(crossing: Crossing) -> tuple[int, int, int]:
    return id(crossing.after), id(crossing.further_after), id(crossing.behind)


def _calls_of(crossings: Iterable[Crossing]) -> dict[tuple[Path, int | None], list[tuple[int, float]]]:
    """By the callable that was called before: the graphs behind breaks that came next, and how long after."""
    graphs: dict[tuple[Path, int], Graph] = {}
    seen: set[int] = set()
    for crossing in crossings:
        for behind in (crossing.after, crossing.further_after):
            if id(behind) not in seen:
                seen.add(id(behind))
                graphs |= {(crossing.process.stream, graph.number): graph for graph in behind}
    found: dict[tuple[Path, int | None], list[tuple[int, float]]] = {}
    for (stream, graph_number), graph in graphs.items():
        for call in graph.times.samples if graph.times is not None else ():
            if call.since_previous is not None:
                found.setdefault((stream, call.previous), []).append((graph_number, call.since_previous))
    return found


def _nearest(each: DistinctBreak) -> list[Crossing]:
    """Where the function itself was compiled as a frame, or where the fewest calls had been inlined."""
    return [crossing for crossing in each.crossings if crossing.depth == each.least_depth]


def _inlined(each: DistinctBreak) -> dict[Path, list[Crossing]]:
    """Where a frame had inlined the function, and broke with it; by the stream of its process."""
    found: dict[Path, list[Crossing]] = {}
    for way in each.crossings:
        if way.depth > each.least_depth:
            found.setdefault(way.process.stream, []).append(way)
    return found


def _in_any(tuples: Iterable[tuple[_T, ...]]) -> list[_T]:
    """What is in any of them, each of them gone through once."""
    return [item for each in {id(each): each for each in tuples}.values() for item in each]


def _numbers(tuples: Iterable[tuple[Graph, ...]]) -> frozenset[int]:
    return frozenset(graph.number for graph in _in_any(tuples))


# Recompiles that the line of a graph break leads to, so that they are part of what the break costs.
#
# What goes on behind the break is compiled again for a value that was made at the break: that ends with the
# break, since the value is then inside of one graph. And a line that makes a list longer, on whose length
# there is a guard, has its own function compiled again: that ends where the line is moved out of what is
# compiled.


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
        return RecompilesOfABreak(across_ranks(took), lengthened)


def _resumed_at(graph_break: GraphBreak) -> tuple[str, int] | None:
    """The function that goes on behind it, and from which line."""
    if not graph_break.stack:
        return None
    outermost = graph_break.stack[0]
    return function_of(outermost.function), outermost.place.line


def _is_of(failure: GuardFailure, made: set[str]) -> bool:
    source = failure.source or ""
    return is_of_a_break(failure) or source.partition("[")[0].partition(".")[0] in made


# What each graph break costs:


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
        return across_ranks((process, each * count) for process, count in crossed)

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


# What a graph break is called, and what it does, in a few words.


_LINES_SHOWN = 3


def title_of(graph_break: GraphBreak, shown_at: Place | None = None) -> str:
    """Place, kind and registry id of a break. `shown_at` is the user's line that led there."""
    explanation = graph_break.explanation
    known_as = f" ({explanation.registry_id})" if explanation and explanation.registry_id else ""
    return f"{place(shown_at or graph_break.place)} {graph_break.kind}{known_as}"


def effect(each: DistinctBreak) -> str:
    """What a break does, in a clause: met, crossed, or the whole frame eager."""
    parts = [f"met {number(each.met, 'time')} while compiling"]
    if each.frames_fell_back:
        names = dict.fromkeys(frame_name(frame.name, frame.method) for frame in each.frames_fell_back)
        parts.append(f"the whole frame runs eager ({', '.join(names)})")
    if not each.first.is_resumed:
        parts.append("torch cannot go on after it, so that the rest of the function runs eager")
    if each.crossings:
        crossed = each.crossed
        parts.append("crossings not recorded" if crossed is None else f"crossed {number(crossed, 'time')}")
        if each.inlined_by:
            parts.append(f"also breaks {number(each.inlined_by, 'compile')} that had inlined it")
    return ", ".join(parts)


def effect_and_cost(cost: BreakCost) -> str:
    """The same, with what it costs where that is known."""
    return f"{effect(cost.distinct)}{_time_outside(cost)}{_recompiles(cost)}"


def _time_outside(cost: BreakCost) -> str:
    if cost.seconds is None or cost.seconds_each is None:
        return ""
    others = cost.along_with
    together = f", together with {_at_lines(others)}" if others else ""
    whole = cost.seconds_each * (cost.distinct.crossed or 0)
    of_ranks = " in the rank that crosses it most" if seconds(whole) != seconds(cost.seconds) else ""
    waits = cost.waits_at
    less = "" if waits is None else f", less what `{waits}` waits: that stays"
    return (
        f"; {seconds(cost.seconds_each)} outside of graphs each time, "
        f"{seconds(cost.seconds)} in all{of_ranks}{together}: "
        f"fixing {'them all' if others else 'it'} saves at most this{less}"
    )


def _recompiles(cost: BreakCost) -> str:
    found = cost.recompiles
    if not found.seconds:
        return ""
    why = "" if found.lengthened is None else f" (it changes the length of `{found.lengthened}`)"
    return f"; recompiles because of this line took {seconds(found.seconds)}{why}"


def _at_lines(breaks: Sequence[DistinctBreak]) -> str:
    """`2 other breaks (model.py:14, model.py:15)`."""
    lines = sorted({place(each.first.place) for each in breaks})
    shown = ", ".join(lines[:_LINES_SHOWN]) + (", …" if len(lines) > _LINES_SHOWN else "")
    return f"{number(len(breaks), 'other break')} ({shown})"
