"""How long it takes from a graph before a break to one behind it, and which other breaks are in between."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..model import CompileId, Graph
from .break_effects import Crossing, DistinctBreak

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
    for (stream, number), graph in graphs.items():
        for call in graph.times.samples if graph.times is not None else ():
            if call.since_previous is not None:
                found.setdefault((stream, call.previous), []).append((number, call.since_previous))
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
