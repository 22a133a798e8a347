"""What a process recorded of its compiles, by compile and by frame."""

from collections.abc import Mapping
from functools import cached_property
from typing import TypeVar

from ..model import (
    CompileId,
    Frame,
    Graph,
    GuardCheck,
    GuardFailure,
    NotCompiled,
    Place,
    Process,
    Specialization,
    StackFrame,
    Symbol,
)
from ..recording.recompile_text import plain_source
from .guard_places import whole_places
from .library import is_library

_V = TypeVar("_V")


def frame_of(compile_id: CompileId | None) -> CompileId | None:
    """What all compiles of one frame have in common."""
    return compile_id and compile_id._replace(compile=None)


class ByCompile(dict[CompileId | None, _V]):
    """What is known of each compile. To be filled before anybody asks `of_frame`."""

    def of_frame(self, compile_id: CompileId | None) -> Mapping[CompileId | None, _V]:
        """That of all compiles of the frame that this one is of."""
        return self._by_frame.get(frame_of(compile_id), {})

    @cached_property
    def _by_frame(self) -> dict[CompileId | None, dict[CompileId | None, _V]]:
        by_frame: dict[CompileId | None, dict[CompileId | None, _V]] = {}
        for compile_id, value in self.items():
            by_frame.setdefault(frame_of(compile_id), {})[compile_id] = value
        return by_frame


class CompileRecords:
    """What a process recorded of its compiles, by compile id: found once, however many recompiles ask."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @cached_property
    def failures(self) -> Mapping[CompileId | None, tuple[GuardFailure, ...]]:
        """Why each cache entry could not be used, the newest entry first."""
        # The first record of a compile is the one that counts.
        return {reasons.compile_id: reasons.failures for reasons in reversed(self._process.recompile_reasons)}

    @cached_property
    def checks(self) -> "ByCompile[tuple[GuardCheck, ...]]":
        """The guards of the cache entry that a compile made, as far as they bear on recompiles."""
        checks: ByCompile[tuple[GuardCheck, ...]] = ByCompile()
        for guard_set in self._process.recompiled_entries:
            checks[guard_set.compile_id] = checks.get(guard_set.compile_id, ()) + (guard_set.checks or ())
        return checks

    @cached_property
    def methods(self) -> "ByCompile[str]":
        """Of which method of a module a compile was."""
        frames = (frame for frame in self._process.frames if frame.method is not None)
        return ByCompile({frame.compile_id: frame.method or "" for frame in frames})

    @cached_property
    def symbols(self) -> "ByCompile[list[Symbol]]":
        """What a compile made dynamic."""
        symbols: ByCompile[list[Symbol]] = ByCompile()
        for symbol in self._process.symbols:
            symbols.setdefault(symbol.compile_id, []).append(symbol)
        return symbols

    @cached_property
    def specializations(self) -> "ByCompile[list[Specialization]]":
        """What a compile made dynamic in vain."""
        found: ByCompile[list[Specialization]] = ByCompile()
        for each in self._process.specializations:
            found.setdefault(each.compile_id, []).append(each)
        return found

    @cached_property
    def calls(self) -> Mapping[CompileId | None, StackFrame]:
        """The user's line that called what was compiled, as far as it is known."""
        process = self._process
        calls = {
            compile_id: line
            for compile_id, lines in process.callers.items()
            if (line := next((each for each in reversed(lines) if not is_library(each.place)), None))
        }
        called = {frame.compile_id: frame.called_from for frame in process.frames}
        return calls | {key: line for key, line in called.items() if line and not is_library(line.place)}

    @cached_property
    def compile_calls(self) -> "ByCompile[StackFrame]":
        """The line that called torch.compile, as far as it is known."""
        frames = self._process.frames
        return ByCompile({frame.compile_id: frame.compiled_by for frame in frames if frame.compiled_by})

    @cached_property
    def whole_files(self) -> Mapping[str, str | None]:
        """The files that the names in guards, which torch cuts short, stand for."""
        return whole_places(self._process)

    @cached_property
    def spelled_sources(self) -> Mapping[str, str]:
        """How guards spell a source in full (`L['x']`), by its plain name (`x`)."""
        checks = [check for checks in self.checks.values() for check in checks]
        return {plain_source(check.source): check.source for check in reversed(checks)}

    @cached_property
    def dictionaries(self) -> frozenset[str]:
        """The plain names of the sources that are guarded as dictionaries."""
        return frozenset(
            plain_source(check.source)
            for checks in self.checks.values()
            for check in checks
            if check.type.startswith(("DICT_", "MAPPING_"))
        )

    @cached_property
    def graph_calls(self) -> Mapping[CompileId | None, int | None]:
        """How often the first graph of a compile was called."""
        return {graph.compile_id: graph.calls for graph in reversed(self._process.graphs)}

    @cached_property
    def graphs_of_frames(self) -> Mapping[tuple[int | None, int], list[Graph]]:
        """The graphs of a frame, by its number and the generation of ids, whatever was selected."""
        graphs: dict[tuple[int | None, int], list[Graph]] = {}
        for graph in self._process.entire.graphs:
            if graph.compile_id is not None:
                of_frame = graph.compile_id.frame, graph.compile_id.generation
                graphs.setdefault(of_frame, []).append(graph)
        return graphs

    @cached_property
    def frames(self) -> Mapping[CompileId | None, Frame]:
        """The frame of a compile, the first where there are several, whatever was selected."""
        return {frame.compile_id: frame for frame in reversed(self._process.entire.frames)}

    @cached_property
    def called_from(self) -> Mapping[CompileId | None, list[tuple[int, StackFrame]]]:
        """The lines that called a compile's frame, each with its position among all."""
        called: dict[CompileId | None, list[tuple[int, StackFrame]]] = {}
        for position, frame in enumerate(self._process.entire.frames):
            if frame.called_from:
                called.setdefault(frame.compile_id, []).append((position, frame.called_from))
        return called

    @cached_property
    def given_up(self) -> Mapping[tuple[str, str], list[Frame]]:
        """The frames that Dynamo failed on, by file and name."""
        found: dict[tuple[str, str], list[Frame]] = {}
        for frame in self._process.entire.frames:
            if frame.outcome == "failed":
                found.setdefault((frame.place.file, frame.name), []).append(frame)
        return found

    @cached_property
    def whole_graphs(self) -> frozenset[CompileId | None]:
        """The frames that were compiled with `fullgraph=True`, by what `frame_of` says."""
        frames = self._process.entire.frames
        return frozenset(frame_of(frame.compile_id) for frame in frames if frame.is_whole_graph)

    @cached_property
    def not_compiled(self) -> Mapping[tuple[str | None, Place | None], list[NotCompiled]]:
        """What `--freeze-after` left to eager, by name and place of the frame."""
        found: dict[tuple[str | None, Place | None], list[NotCompiled]] = {}
        for each in self._process.entire.not_compiled:
            found.setdefault((each.name, each.place), []).append(each)
        return found

    @cached_property
    def trains(self) -> bool:
        """Whether the process trained anything that is compiled."""
        process = self._process.entire
        return bool(process.optimizers) or any(graph.backward_index is not None for graph in process.graphs)

    @cached_property
    def frames_that_vary(self) -> int:
        """How many frames were recompiled for something that could be dynamic."""
        again = {compile_.compile_id for compile_ in self._process.recompiles}
        opened = {symbol.compile_id for symbol in self._process.symbols} & again
        return len({frame_of(compile_id) for compile_id in opened if compile_id is not None})
