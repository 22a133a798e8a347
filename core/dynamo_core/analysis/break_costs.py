"""What each graph break costs: the time between the graphs on both sides of it, and the recompiles it causes.

The time from the graph that ends at the break to the graph that begins behind it holds the eager code there,
the rest of the broken frame, and finding the resume function and checking its guards. Breaks that follow one
another with no graph in between share one such time. Compiling in parts, and recompiles that the broken line
causes, are counted in addition. Fixing the break saves at most all of this.
"""

import re
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
from .break_compiles import Seconds, compile_seconds, seconds_in_parts
from .break_effects import Crossing, DistinctBreak
from .guard_failures import is_on_length, is_on_stack_value, lengthened_by
from .recompile_echoes import CompileKey, compile_key
from .recompiles import FrameRecompiles
from .source_lines import targets_of, waiting_call
from .time.wall import across_ranks
from .words import frame_name, number, place, seconds

_T = TypeVar("_T")
_Compile = tuple[Path, CompileId | None]  # the stream of its process, and its id

# The time from a graph before a break to a graph behind it, and the other breaks within that time.


class Gap(NamedTuple):
    """The mean seconds of a crossing, None where none was timed; `timed` is the number of timed crossings.

    `along_with` are the other breaks that lie within the same time.
    """

    seconds_each: float | None
    timed: int
    along_with: tuple[DistinctBreak, ...]


class Gaps:
    """The gaps at all breaks of a recording.

    Code may have been compiled any number of times: the graphs before or behind the breaks of all its
    versions are then one and the same tuple (`break_effects.Crossing`), which is evaluated once.
    """

    def __init__(self, breaks: Sequence[DistinctBreak]) -> None:
        self._ended: dict[_Compile, DistinctBreak] = {}
        for distinct in breaks:
            for crossing in distinct.crossings:
                self._ended.setdefault((crossing.process.stream, crossing.compile_id), distinct)
        crossings = [crossing for distinct in breaks for crossing in distinct.crossings]
        self._calls = _calls_by_previous(crossings)
        self._known_behind: dict[tuple[object, ...], _Behind] = {}
        self._first_behind: dict[tuple[int, Path], frozenset[int]] = {}

    def gap_at(self, distinct: DistinctBreak) -> Gap:
        """The gap at one of the breaks."""
        others: dict[int, DistinctBreak] = {}
        found: dict[tuple[object, ...], list[float]] = {}
        times: Counter[tuple[object, ...]] = Counter()
        inlined = _inlined_crossings(distinct)
        for crossing in _nearest_crossings(distinct):
            stream = crossing.process.stream
            ahead = id(crossing.before), id(crossing.further_before), id(crossing.ahead)
            key = stream, *ahead, *_key_behind(crossing)
            times[key] += 1
            if key in found:
                continue
            # Where the function that broke has no graph before it, a frame that had inlined it may have one.
            callers = [] if crossing.before or crossing.further_before else inlined.get(stream, [])
            behind = self._behind(crossing)
            found[key] = self._seconds([crossing, *callers], behind)
            before = _distinct_items(each.ahead for each in (crossing, *callers))
            broken_before = (other for at in before if (other := self._ended.get((stream, at))))
            others |= {
                id(other): other for other in (*behind.breaks, *broken_before) if other is not distinct
            }
        timed = sum(len(gaps) * times[key] for key, gaps in found.items())
        seconds = sum(gap * times[key] for key, gaps in found.items() for gap in gaps)
        return Gap(seconds / timed if timed else None, timed, tuple(others.values()))

    def _seconds(self, crossings: Sequence[Crossing], behind: "_Behind") -> list[float]:
        """The times from a graph before the break to one behind it, with no other call in between."""
        graphs = _distinct_items(
            graphs for each in crossings for graphs in (each.before, each.further_before)
        )
        stream = crossings[0].process.stream
        return [
            seconds
            for index in dict.fromkeys(graph.calls_index for graph in graphs)
            for graph, seconds in self._calls.get((stream, index), ())
            if any(graph in graphs_behind for graphs_behind in behind.graphs)
        ]

    def _behind(self, crossing: Crossing) -> "_Behind":
        stream = crossing.process.stream
        key = stream, *_key_behind(crossing)
        if key not in self._known_behind:
            ended = (self._ended.get((stream, at)) for at in crossing.behind)
            breaks = list({id(other): other for other in ended if other is not None}.values())
            own = _graph_numbers([crossing.after, crossing.further_after])
            further = [self._graphs_behind(other, stream) for other in breaks]
            self._known_behind[key] = _Behind([own, *further], breaks)
        return self._known_behind[key]

    def _graphs_behind(self, distinct: DistinctBreak, stream: Path) -> frozenset[int]:
        """The numbers of the graphs behind the next break, where its function was a frame of its own."""
        key = id(distinct), stream
        if key not in self._first_behind:
            crossings = [each for each in _nearest_crossings(distinct) if each.process.stream == stream]
            graphs = (graphs for each in crossings for graphs in (each.after, each.further_after))
            self._first_behind[key] = _graph_numbers(graphs)
        return self._first_behind[key]


class _Behind(NamedTuple):
    """What is behind a break: the numbers of the graphs, in any of several sets, and the next breaks."""

    graphs: list[frozenset[int]]
    breaks: list[DistinctBreak]


def _key_behind(crossing: Crossing) -> tuple[int, int, int]:
    return id(crossing.after), id(crossing.further_after), id(crossing.behind)


def _calls_by_previous(
    crossings: Iterable[Crossing],
) -> dict[tuple[Path, int | None], list[tuple[int, float]]]:
    """By the callable called before: the graphs behind breaks that were called next, and how long after."""
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


def _nearest_crossings(distinct: DistinctBreak) -> list[Crossing]:
    """The crossings where the function was compiled as a frame, or else the fewest calls were inlined."""
    return [crossing for crossing in distinct.crossings if crossing.depth == distinct.least_depth]


def _inlined_crossings(distinct: DistinctBreak) -> dict[Path, list[Crossing]]:
    """The crossings where a frame had inlined the function and broke too, by the stream of the process."""
    found: dict[Path, list[Crossing]] = {}
    for crossing in distinct.crossings:
        if crossing.depth > distinct.least_depth:
            found.setdefault(crossing.process.stream, []).append(crossing)
    return found


def _distinct_items(tuples: Iterable[tuple[_T, ...]]) -> list[_T]:
    """The items of all tuples; a tuple that is given several times is read once."""
    return [item for each in {id(each): each for each in tuples}.values() for item in each]


def _graph_numbers(tuples: Iterable[tuple[Graph, ...]]) -> frozenset[int]:
    return frozenset(graph.number for graph in _distinct_items(tuples))


# Recompiles that the line of a graph break causes, so that they are part of what the break costs.
#
# The resume function behind the break is recompiled for a value that was made at the break. Fixing the break
# ends that, since the value is then inside of one graph. And a line that makes a list longer, on whose length
# there is a guard, has its own function recompiled. Moving the line out of the compiled code ends that.

# Kinds of breaks that the program requests: they are meant to stay, and what varies behind them has its own
# remedy.
_REQUESTED = ("torch.compiler.disable", "graph_break()")
_SHUFFLED = re.compile(r"\bshuffle\((\w+)\)")  # a list, which the call puts in another order


@dataclass(frozen=True)
class RecompilesOfABreak:
    """The recompiles and their seconds; `lengthened` is what the line makes longer or shorter each time."""

    seconds: float = 0.0
    lengthened: str | None = None
    compiles: frozenset[CompileKey] = frozenset()


NO_RECOMPILES = RecompilesOfABreak()


class RecompilesByBreak:
    """Finds the recompiles that each break of a recording causes."""

    def __init__(self, recompiled: Iterable[FrameRecompiles]) -> None:
        # Each recompile with a guard that failed: on a length, else that of the newest cache entry.
        self._all: list[tuple[Process, Compile, GuardFailure]] = []
        # Positions in that list: of resume functions, by function and line; of guards on a length, by line.
        self._resuming: dict[tuple[str, int], list[int]] = {}
        self._guarding: dict[Place | None, list[int]] = {}
        for frame in recompiled:
            resumed = resumed_function(frame.name)
            for compile_ in frame.compiles:
                for failure in sorted(frame.failures(compile_), key=is_on_length, reverse=True)[:1]:
                    if resumed is not None:
                        self._resuming.setdefault(resumed, []).append(len(self._all))
                    if is_on_length(failure):
                        self._guarding.setdefault(frame.place_of(failure), []).append(len(self._all))
                    self._all.append((frame.process, compile_, failure))

    def caused_by(self, distinct: DistinctBreak) -> RecompilesOfABreak:
        """The recompiles that one break causes; none where the program itself requests the break."""
        if any(kind in distinct.first.kind for kind in _REQUESTED) or not distinct.first.stack:
            return NO_RECOMPILES
        line = distinct.first.stack[-1]
        broken = {where for each in distinct.occurrences if (where := _resumed_at(each))}
        behind = {position for where in broken for position in self._resuming.get(where, ())}
        assigned = {*targets_of(line.text), *_SHUFFLED.findall(line.text)}
        took: list[tuple[Process, float]] = []
        compiles: set[CompileKey] = set()
        lengthened = None
        guarding = {*self._guarding.get(line.place, ())}
        for position in sorted(behind | guarding):
            process, compile_, failure = self._all[position]
            by_its_line = lengthened_by(line.text, failure) if position in guarding else None
            if by_its_line:
                lengthened = by_its_line
            elif not (position in behind and _is_on_value_of_break(failure, assigned)):
                continue
            took.append((process, compile_.seconds or 0.0))
            compiles.add(compile_key(process.stream, compile_.compile_id))
        return RecompilesOfABreak(across_ranks(took), lengthened, frozenset(compiles))


def _resumed_at(graph_break: GraphBreak) -> tuple[str, int] | None:
    """The function that is resumed behind the break, and the line from which on."""
    if not graph_break.stack:
        return None
    outermost = graph_break.stack[0]
    return function_of(outermost.function), outermost.place.line


def _is_on_value_of_break(failure: GuardFailure, assigned: set[str]) -> bool:
    """Whether the guard is on a value made at the break; its line assigns or shuffles these names."""
    source = failure.source or ""
    return is_on_stack_value(failure) or source.partition("[")[0].partition(".")[0] in assigned


# The cost of each break, and of all of them together.


@dataclass(frozen=True)
class BreakCost:
    """A break and what it costs. Seconds are None where no crossing was timed; `timed` says how many were.

    `along_with` are the other breaks within the same time: no graph runs between them and this one.
    `seconds_in_parts` is what compiling in parts took at most beyond compiling one graph.
    """

    distinct: DistinctBreak
    seconds_each: float | None
    timed: int
    along_with: tuple[DistinctBreak, ...] = ()
    recompiles: RecompilesOfABreak = NO_RECOMPILES
    seconds_in_parts: float = 0.0

    @property
    def seconds(self) -> float | None:
        """The seconds in the whole run, if crossings were counted; with ranks, those of the worst rank."""
        each, crossed = self.seconds_each, self.distinct.crossed_in
        if each is None or crossed is None:
            return None
        return across_ranks((process, each * count) for process, count in crossed)

    @property
    def waits_at(self) -> str | None:
        """The call within that time that only waits, which it does even if the break is fixed."""
        breaks = (each.first for each in (self.distinct, *self.along_with))
        return next(
            (call for each in breaks if each.stack and (call := waiting_call(each.stack[-1].text))), None
        )


def costs_of(breaks: Iterable[DistinctBreak], recompiled: Sequence[FrameRecompiles] = ()) -> list[BreakCost]:
    """The cost of each break of a recording, in the order of `breaks`."""
    breaks = list(breaks)
    gaps, recompiles = Gaps(breaks), RecompilesByBreak(recompiled)
    met_in = {process.stream: process for distinct in breaks for process in distinct.processes}
    took = compile_seconds(met_in.values())
    return [
        _cost(distinct, gaps.gap_at(distinct), recompiles.caused_by(distinct), took) for distinct in breaks
    ]


def _cost(distinct: DistinctBreak, gap: Gap, recompiles: RecompilesOfABreak, took: Seconds) -> BreakCost:
    in_parts = seconds_in_parts(distinct, took, recompiles.compiles)
    return BreakCost(distinct, gap.seconds_each, gap.timed, gap.along_with, recompiles, in_parts)


def seconds_in_all(costs: Iterable[BreakCost]) -> float | None:
    """What the breaks cost together; None if the cost of none is known.

    Of breaks that share a time directly, only the longest counts.
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


# The title of a break and its effect, in words.

_LINES_SHOWN = 3


def title_of(graph_break: GraphBreak, shown_at: Place | None = None) -> str:
    """Place, kind and registry id of a break. `shown_at` is the user's line that led there."""
    explanation = graph_break.explanation
    registry_id = f" ({explanation.registry_id})" if explanation and explanation.registry_id else ""
    return f"{place(shown_at or graph_break.place)} {graph_break.kind}{registry_id}"


def effect(distinct: DistinctBreak) -> str:
    """What a break does, in a clause: how often it is met and crossed, and whether its frame runs eager."""
    parts = [f"hit {number(distinct.met, 'time')} while compiling"]
    if distinct.frames_fell_back:
        names = dict.fromkeys(frame_name(frame.name, frame.method) for frame in distinct.frames_fell_back)
        parts.append(f"the whole frame runs eager ({', '.join(names)})")
    if not distinct.first.is_resumed:
        parts.append("torch cannot go on after it, so that the rest of the function runs eager")
    if distinct.crossings:
        crossed = distinct.crossed
        ran = "how often it ran is not recorded" if crossed is None else f"ran {number(crossed, 'time')}"
        parts.append(ran)
        if distinct.inlined_by:
            parts.append(f"also breaks {number(distinct.inlined_by, 'compile')} that had inlined it")
    return ", ".join(parts)


def effect_and_cost(cost: BreakCost) -> str:
    """What a break does, as `effect` says it, and what it costs where that is known."""
    return f"{effect(cost.distinct)}{_time_outside_words(cost)}{_recompiles_words(cost)}"


def _time_outside_words(cost: BreakCost) -> str:
    if cost.seconds is None or cost.seconds_each is None:
        return ""
    others = cost.along_with
    together = f", together with {_at_lines(others)}" if others else ""
    all_ranks = cost.seconds_each * (cost.distinct.crossed or 0)
    of_ranks = " in the rank that crosses it most" if seconds(all_ranks) != seconds(cost.seconds) else ""
    waits = cost.waits_at
    less = "" if waits is None else f", less what `{waits}` waits: that stays"
    in_parts = cost.seconds_in_parts
    compiling = (
        f", and its parts took up to {seconds(in_parts)} longer to compile than one graph" if in_parts else ""
    )
    return (
        f"; {seconds(cost.seconds_each)} outside of graphs each time, "
        f"{seconds(cost.seconds)} in all{of_ranks}{together}{compiling}: "
        f"fixing {'them all' if others else 'it'} saves at most this{less}"
    )


def _recompiles_words(cost: BreakCost) -> str:
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
