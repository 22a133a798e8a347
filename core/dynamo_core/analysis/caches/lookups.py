"""Each look-up with what is known of its compile, and the nearest earlier key to compare it with."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from ...model import CacheLookup, CompileId, Process, Recording
from ...shared.quick_dataclass import dataclass
from .key_parts import GRAPH, Key, key_of


@dataclass(frozen=True)
class _Frame:
    name: str | None
    source: tuple[tuple[int, str], ...]
    file: str | None


class Lookup:
    """One look-up in its recording; `order` says how early in it."""

    def __init__(
        self, recording: Recording, process: Process, said: CacheLookup, order: int, frame: _Frame
    ) -> None:
        self.recording = recording
        self.process = process
        self.said = said
        self.order = order
        self._frame = frame

    @property
    def function(self) -> str | None:
        """The frame that was compiled."""
        return self._frame.name

    @property
    def frame_id(self) -> tuple[int, int | None]:
        """Which frame of which process it is; of a frame that is compiled again it is the same."""
        compile_id = self.said.compile_id
        return id(self.process), None if compile_id is None else compile_id.frame

    @property
    def file(self) -> str | None:
        """Where it is written."""
        return self._frame.file

    @property
    def source(self) -> tuple[tuple[int, str], ...]:
        """Its lines, with their numbers, as far as they were recorded."""
        return self._frame.source

    @cached_property
    def own_key(self) -> Key | None:
        """The parts that were recorded with it."""
        return key_of(self.said)


class KnownKeys:
    """The keys of some recordings, the earlier ones first, and those of `target` last.

    The parts of a key that AOTAutograd had an entry for were not recorded then, but when it was made.
    """

    def __init__(self, target: Recording, earlier: Iterable[Recording]) -> None:
        self.target = list(_lookups(target))
        self.earlier = [lookup for recording in earlier for lookup in _lookups(recording)]
        self._by_key: dict[str, Key] = {}
        for lookup in [*self.earlier, *self.target]:
            if lookup.said.key is not None and lookup.own_key is not None:
                self._by_key.setdefault(lookup.said.key, lookup.own_key)
        self._alike: dict[tuple[str | None, ...], list[Lookup]] = {}
        for lookup in self.earlier:
            key = self.key(lookup)
            if key is not None:
                self._alike.setdefault(_of_graph(lookup, key), []).append(lookup)
                self._alike.setdefault(_of_function(lookup), []).append(lookup)

    def key(self, lookup: Lookup) -> Key | None:
        """The parts of the key, whoever listed them."""
        return lookup.own_key or self._by_key.get(lookup.said.key or "")

    def same_key(self, lookup: Lookup) -> Lookup | None:
        """The latest earlier look-up of the very same key: in an earlier run, else in this one."""
        if lookup.said.key is None:
            return None
        for others in (reversed(self.earlier), reversed(self.target[: lookup.order])):
            for other in others:
                if other.said.cache == lookup.said.cache and other.said.key == lookup.said.key:
                    return other
        return None

    def nearest(self, lookup: Lookup) -> Lookup | None:
        """The earlier key of the same graph, or else function, that differs in the fewest parts.

        An earlier run's comes first; in this run only what the same process compiled before is compared with:
        the same frame, or an equal graph.
        """
        mine = self.key(lookup)
        if mine is None:
            return None
        here = [each for each in self.target[: lookup.order] if self._is_repeated(lookup, mine, each)]
        others = self._alike.get(_of_graph(lookup, mine), ()) or self._alike.get(_of_function(lookup), ())
        return self._nearest_of(others, lookup, mine) or self._nearest_of(here, lookup, mine)

    def _is_repeated(self, lookup: Lookup, mine: Key, earlier: Lookup) -> bool:
        if earlier.process is not lookup.process or earlier.frame_id == lookup.frame_id:
            return earlier.frame_id == lookup.frame_id
        its = self.key(earlier)
        graph = mine.parts.get(GRAPH)
        return its is not None and graph is not None and its.parts.get(GRAPH) == graph

    def _nearest_of(self, others: Sequence[Lookup], lookup: Lookup, mine: Key) -> Lookup | None:
        """The nearest of these, of equally near ones the latest."""
        ranked = [
            ((other.function != lookup.function, mine.distance(its)), -order, other)
            for order, other in enumerate(others)
            if other.said.cache == lookup.said.cache and (its := self.key(other)) is not None
            if its.is_backward == mine.is_backward
        ]
        return min(ranked, key=lambda each: each[:2])[2] if ranked else None


def _of_graph(lookup: Lookup, key: Key) -> tuple[str, ...]:
    graph = key.parts.get(GRAPH)
    return lookup.said.cache, str(key.is_backward), graph.digest if graph is not None else ""


def _of_function(lookup: Lookup) -> tuple[str, str | None, str | None]:
    return lookup.said.cache, lookup.function, _name(lookup.file)


def _name(file: str | None) -> str | None:
    return None if file is None else file.rpartition("/")[2]


def _lookups(recording: Recording) -> Iterator[Lookup]:
    order = 0
    for process in recording.processes:
        frames = _frames(process)
        for said in process.cache_lookups:
            yield Lookup(recording, process, said, order, frames.get(said.compile_id, _UNKNOWN))
            order += 1


_UNKNOWN = _Frame(None, (), None)


def _frames(process: Process) -> dict[CompileId | None, _Frame]:
    sources = {code.compile_id: code for code in process.bytecodes}
    found: dict[CompileId | None, _Frame] = {}
    for graph in process.graphs:
        code = sources.get(graph.compile_id)
        source = tuple(code.source.items()) if code is not None else ()
        file = graph.frame_place.file if graph.frame_place is not None else None
        found[graph.compile_id] = _Frame(graph.frame_name, source, file)
    return found
