"""What a process recorded about its compiles, indexed by compile and by frame."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from ..model import (
    Bytecode,
    Compile,
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
from ..recording.guards import plain_source
from .source_lines import is_library, whole_places
from .summary import ByCompile, by_compile, frame_of
from .time.steps import CallsBefore


class CompileRecords:
    """What a process recorded about its compiles, by compile id; each index is built once, on first use."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._calls_of_frames: dict[tuple[int | None, int], CallsBefore | None] = {}

    @cached_property
    def failures(self) -> Mapping[CompileId | None, tuple[GuardFailure, ...]]:
        """Why each cache entry could not be used, the newest entry first."""
        # The first record of a compile is the one that counts.
        return {reasons.compile_id: reasons.failures for reasons in reversed(self.process.recompile_reasons)}

    @cached_property
    def checks(self) -> ByCompile[list[GuardCheck]]:
        """The guards of the cache entry that a compile made, as far as recompiles depend on them."""
        checks: ByCompile[list[GuardCheck]] = ByCompile()
        for guard_set in self.process.recompiled_entries:
            checks.setdefault(guard_set.compile_id, []).extend(guard_set.checks or ())
        return checks

    @cached_property
    def methods(self) -> ByCompile[str]:
        """The method of a module that was compiled, `GPT2Model.forward`, by compile."""
        frames = (frame for frame in self.process.frames if frame.method is not None)
        return ByCompile({frame.compile_id: frame.method or "" for frame in frames})

    def seconds(self, compile_: Compile) -> float | None:
        """How long a compile took, with that of its backward graph; None where that was not recorded."""
        own = compile_.seconds
        return None if own is None else own + self._backwards.get(compile_.compile_id, 0.0)

    def seconds_of(self, compiles: Iterable[Compile]) -> float:
        """How long compiles took, with those of their backward graphs."""
        return sum(self.seconds(each) or 0.0 for each in compiles)

    @cached_property
    def _backwards(self) -> Mapping[CompileId | None, float]:
        found: dict[CompileId | None, float] = {}
        for each in self.process.compiles:
            if not each.is_forward and each.compile_id is not None:
                found[each.compile_id] = found.get(each.compile_id, 0.0) + (each.seconds or 0.0)
        return found

    @cached_property
    def symbols(self) -> ByCompile[list[Symbol]]:
        """What a compile made dynamic."""
        return by_compile(self.process.symbols)

    @cached_property
    def specializations(self) -> ByCompile[list[Specialization]]:
        """The values that a compile made dynamic, and then had to specialize."""
        return by_compile(self.process.specializations)

    @cached_property
    def callers(self) -> Mapping[CompileId | None, StackFrame]:
        """The user call site of what was compiled, as far as it is known."""
        process = self.process
        calls = {
            compile_id: line
            for compile_id, lines in process.callers.items()
            if (line := next((each for each in reversed(lines) if not is_library(each.place)), None))
        }
        called = {frame.compile_id: frame.called_from for frame in process.frames}
        return calls | {key: line for key, line in called.items() if line and not is_library(line.place)}

    @cached_property
    def compiled_by(self) -> ByCompile[StackFrame]:
        """The line that called torch.compile, as far as it is known."""
        frames = self.process.frames
        return ByCompile({frame.compile_id: frame.compiled_by for frame in frames if frame.compiled_by})

    @cached_property
    def whole_files(self) -> Mapping[str, str | None]:
        """The whole paths of the file names that torch cuts short in guards."""
        return whole_places(self.process)

    @cached_property
    def spelled_sources(self) -> Mapping[str, str]:
        """The source as guards spell it in full (`L['x']`), by its plain name (`x`)."""
        all_checks = [check for checks in self.checks.values() for check in checks]
        return {plain_source(check.source): check.source for check in reversed(all_checks)}

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
    def times_called(self) -> Mapping[CompileId | None, int | None]:
        """How often the first graph of a compile was called."""
        return {graph.compile_id: graph.calls for graph in reversed(self.process.graphs)}

    @cached_property
    def frames_that_vary(self) -> int:
        """The number of frames that were recompiled for something that could be dynamic."""
        recompiles = {compile_.compile_id for compile_ in self.process.recompiles}
        made_dynamic = {symbol.compile_id for symbol in self.process.symbols} & recompiles
        return len({frame_of(compile_id) for compile_id in made_dynamic if compile_id is not None})

    # What follows covers the entire process, also where only a part of it was selected.

    def calls_of_frame(self, compile_id: CompileId) -> CallsBefore | None:
        """The calls of all graphs of a frame; None where it has none, or they were not recorded for each."""
        frame = compile_id.frame, compile_id.generation
        if frame not in self._calls_of_frames:
            times = [graph.times for graph in self._graphs_of_frames.get(frame, ())]
            known = [each for each in times if each is not None]
            is_known = bool(times) and len(known) == len(times)
            self._calls_of_frames[frame] = CallsBefore(known) if is_known else None
        return self._calls_of_frames[frame]

    @cached_property
    def _graphs_of_frames(self) -> Mapping[tuple[int | None, int], list[Graph]]:
        """The graphs of a frame, backward included, by its number and the generation of compile ids."""
        graphs: dict[tuple[int | None, int], list[Graph]] = {}
        for graph in self.process.entire.graphs:
            if graph.compile_id is not None:
                frame = graph.compile_id.frame, graph.compile_id.generation
                graphs.setdefault(frame, []).append(graph)
        return graphs

    @cached_property
    def compiled_graphs(self) -> ByCompile[list[Graph]]:
        """The graphs that a backend compiled."""
        return by_compile(self.process.entire.compiled_graphs)

    @cached_property
    def codes(self) -> ByCompile[list[Bytecode]]:
        """The bytecode of each compile that ended."""
        return by_compile(self.process.entire.bytecodes)

    @cached_property
    def frames_of_code(self) -> Mapping[str, set[CompileId | None]]:
        """The frames that have the same code, as `frame_of` names them, by its fingerprint."""
        found: dict[str, set[CompileId | None]] = {}
        for code in self.process.entire.bytecodes:
            found.setdefault(code.fingerprint, set()).add(frame_of(code.compile_id))
        return found

    @cached_property
    def makers(self) -> Mapping[str, dict[CompileId | None, None]]:
        """The compiles that made a resume function, by the fingerprint of its code."""
        found: dict[str, dict[CompileId | None, None]] = {}
        for function in self.process.entire.resume_functions:
            found.setdefault(function.fingerprint, {})[function.made_by] = None
        return found

    @cached_property
    def makes(self) -> Mapping[CompileId | None, set[str]]:
        """The fingerprints of the resume functions that a compile made."""
        found: dict[CompileId | None, set[str]] = {}
        for function in self.process.entire.resume_functions:
            found.setdefault(function.made_by, set()).add(function.fingerprint)
        return found

    @cached_property
    def frames(self) -> Mapping[CompileId | None, Frame]:
        """The frame of a compile; the first one where there are several."""
        return {frame.compile_id: frame for frame in reversed(self.process.entire.frames)}

    @cached_property
    def callers_in_order(self) -> Mapping[CompileId | None, list[tuple[int, StackFrame]]]:
        """The lines that called the frame of a compile, each with its position in the order of all frames."""
        callers: dict[CompileId | None, list[tuple[int, StackFrame]]] = {}
        for position, frame in enumerate(self.process.entire.frames):
            if frame.called_from:
                callers.setdefault(frame.compile_id, []).append((position, frame.called_from))
        return callers

    @cached_property
    def fallbacks(self) -> Mapping[tuple[str, str], list[Frame]]:
        """The frames that fell back to eager, or that we left to it, by file and function name."""
        found: dict[tuple[str, str], list[Frame]] = {}
        for frame in self.process.entire.frames:
            if frame.outcome == "failed" or frame.limit is not None:
                found.setdefault((frame.place.file, frame.name), []).append(frame)
        return found

    @cached_property
    def whole_graphs(self) -> frozenset[CompileId | None]:
        """The frames that were compiled with `fullgraph=True`, as `frame_of` names them."""
        frames = self.process.entire.frames
        return frozenset(frame_of(frame.compile_id) for frame in frames if frame.is_whole_graph)

    @cached_property
    def not_compiled(self) -> Mapping[tuple[str | None, Place | None], list[NotCompiled]]:
        """The calls that `--freeze-after` left to eager, by name and place of the frame."""
        found: dict[tuple[str | None, Place | None], list[NotCompiled]] = {}
        for not_compiled in self.process.entire.interventions.not_compiled:
            found.setdefault((not_compiled.name, not_compiled.place), []).append(not_compiled)
        return found

    @cached_property
    def trains(self) -> bool:
        """Whether the process trained anything that was compiled."""
        process = self.process.entire
        return bool(process.optimizers) or any(graph.backward_index is not None for graph in process.graphs)
