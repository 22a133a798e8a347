"""Cache look-ups with their compile and nearest earlier key, and equal graphs."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from ..model import CacheLookup, CompileId, Graph, Process, Recording
from ..shared.quick_dataclass import dataclass
from .keys import GRAPH, Key, key_of


@dataclass(frozen=True)
class _Frame:
    """A frame that was compiled: its name, its lines by number, its file, and `method` as in `Frame`."""

    function: str | None = None
    source: tuple[tuple[int, str], ...] = ()
    file: str | None = None
    method: str | None = None


@dataclass(frozen=True, eq=False)
class Lookup:
    """One recorded look-up with its process and frame; `order` is its position in the recording."""

    recording: Recording
    process: Process
    recorded: CacheLookup
    order: int
    frame: _Frame

    @property
    def frame_id(self) -> tuple[int, int | None]:
        """An id of the process and frame, which is the same for all compiles of a frame."""
        compile_id = self.recorded.compile_id
        return id(self.process), None if compile_id is None else compile_id.frame

    @cached_property
    def own_key(self) -> Key | None:
        """The key with the parts that were recorded with this look-up."""
        return key_of(self.recorded)


class KnownKeys:
    """The look-ups and keys of a recording, `target`, and of earlier recordings.

    If AOTAutograd finds an entry for a key, the parts of the key are not recorded; but they were recorded
    when the entry was made.
    """

    def __init__(self, target: Recording, earlier: Iterable[Recording]) -> None:
        self.target = list(_lookups(target))
        self.earlier = [lookup for recording in earlier for lookup in _lookups(recording)]
        self._by_key: dict[str, Key] = {}
        for lookup in [*self.earlier, *self.target]:
            if lookup.recorded.key is not None and lookup.own_key is not None:
                self._by_key.setdefault(lookup.recorded.key, lookup.own_key)
        self._similar: dict[tuple[str | None, ...], list[Lookup]] = {}
        for lookup in self.earlier:
            key = self.key(lookup)
            if key is not None:
                self._similar.setdefault(_graph_id(lookup, key), []).append(lookup)
                self._similar.setdefault(_function_id(lookup), []).append(lookup)

    def key(self, lookup: Lookup) -> Key | None:
        """The key of a look-up, with parts recorded by it or by another look-up of the same key."""
        return lookup.own_key or self._by_key.get(lookup.recorded.key or "")

    def same_key(self, lookup: Lookup) -> Lookup | None:
        """The latest earlier look-up of the same key: in an earlier run, else in this one."""
        if lookup.recorded.key is None:
            return None
        wanted = lookup.recorded.cache, lookup.recorded.key
        others = chain(reversed(self.earlier), reversed(self.target[: lookup.order]))
        return next((each for each in others if (each.recorded.cache, each.recorded.key) == wanted), None)

    def nearest(self, lookup: Lookup) -> Lookup | None:
        """The earlier look-up of the same graph, or else function, whose key differs in the fewest parts.

        Look-ups of earlier runs come first; in this run only earlier ones of the same process count, for the
        same frame or an equal graph.
        """
        mine = self.key(lookup)
        if mine is None:
            return None
        here = [each for each in self.target[: lookup.order] if self._is_repeated(lookup, mine, each)]
        of_graph = self._similar.get(_graph_id(lookup, mine), ())
        others = of_graph or self._similar.get(_function_id(lookup), ())
        return self._nearest_of(others, lookup, mine) or self._nearest_of(here, lookup, mine)

    def _is_repeated(self, lookup: Lookup, mine: Key, earlier: Lookup) -> bool:
        if earlier.process is not lookup.process or earlier.frame_id == lookup.frame_id:
            return earlier.frame_id == lookup.frame_id
        its = self.key(earlier)
        graph = mine.parts.get(GRAPH)
        return its is not None and graph is not None and its.parts.get(GRAPH) == graph

    def _nearest_of(self, others: Sequence[Lookup], lookup: Lookup, mine: Key) -> Lookup | None:
        """The nearest of these look-ups, of equally near ones the latest."""
        ranked = [
            ((other.frame.function != lookup.frame.function, mine.distance(its)), -order, other)
            for order, other in enumerate(others)
            if other.recorded.cache == lookup.recorded.cache and (its := self.key(other)) is not None
            if its.is_backward == mine.is_backward
        ]
        return min(ranked, key=lambda each: each[:2])[2] if ranked else None


def _graph_id(lookup: Lookup, key: Key) -> tuple[str, ...]:
    graph = key.parts.get(GRAPH)
    return lookup.recorded.cache, str(key.is_backward), graph.digest if graph is not None else ""


def _function_id(lookup: Lookup) -> tuple[str, str | None, str | None]:
    frame = lookup.frame
    return lookup.recorded.cache, frame.function, frame.file and frame.file.rpartition("/")[2]


def _lookups(recording: Recording) -> Iterator[Lookup]:
    order = 0
    for process in recording.processes:
        frames = _frames(process)
        for lookup in process.caching.lookups:
            yield Lookup(recording, process, lookup, order, frames.get(lookup.compile_id, _Frame()))
            order += 1


def _frames(process: Process) -> dict[CompileId | None, _Frame]:
    sources = {code.compile_id: code for code in process.bytecodes}
    found: dict[CompileId | None, _Frame] = {}
    for graph in process.graphs:
        code = sources.get(graph.compile_id)
        source = tuple(code.source.items()) if code is not None else ()
        file = graph.frame_place.file if graph.frame_place is not None else None
        found[graph.compile_id] = _Frame(graph.frame_name, source, file, graph.method)
    return found


@dataclass(frozen=True)
class EqualGraphs:
    """Graphs of one process that are equal except for names, and what compiling only one would have saved.

    `saves_at_most` is an estimate: the backend's time for all of them but the costliest.
    """

    function: str | None
    ops: int | None
    times: int
    backend_seconds: float | None
    saves_at_most: float | None
    method: str | None = None


def equal_graphs(recording: Recording) -> Iterator[EqualGraphs]:
    """The graphs that were compiled more than once, what costs most first."""
    found = [each for process in recording.processes for each in _equal_graphs(process)]
    yield from sorted(found, key=lambda each: -(each.saves_at_most or 0.0))


def _equal_graphs(process: Process) -> Iterator[EqualGraphs]:
    by_key: dict[str, list[Graph]] = {}
    for graph in process.compiled_graphs:
        if graph.key is not None:
            by_key.setdefault(graph.key, []).append(graph)
    for graphs in by_key.values():
        if len(graphs) < 2:
            continue
        costs = [graph.backend_seconds for graph in graphs if graph.backend_seconds is not None]
        yield EqualGraphs(
            graphs[0].frame_name,
            graphs[0].ops,
            len(graphs),
            sum(costs) if costs else None,
            sum(costs) - max(costs) if costs else None,
            graphs[0].method,
        )
