"""What several findings rest on, each worked out once for a recording."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from ..model import Frame, GraphBreak, Process, Recording, StackFrame, function_of
from .break_costs import BreakCost, costs_of
from .break_effects import DistinctBreak, Fallback, distinct_breaks, what_stopped
from .calls_of_a_line import CallsOfLines
from .recompile_echoes import (
    CompileKey,
    Echoes,
    below_breaks,
    below_eager_frames,
    compile_key,
    for_a_name,
    in_loops,
)
from .recompiles import FrameRecompiles, frames_recompiled, is_recompile_limit
from .summary import failed_to_compile
from .time.steps import GraphTime, graph_times
from .time.wall import GRAPHS, REST, WallTime, is_main, wall_time

AT_A_RECURRENT_LAYER = "RNN, GRU, or LSTM"  # in torch's name for the kind of break


def computed_seconds(process: Process) -> float | None:
    """What a process computed once torch was imported, in CPU time; None where that was not recorded."""
    end = process.runtime.end
    return None if end is None or end.cpu_ns is None else end.cpu_ns / 1e9


class Figures:
    """The figures of one recording. What is expensive is worked out when it is first asked for."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._walls: dict[int, WallTime | None] = {}
        self._outside: dict[int, float | None] = {}

    @cached_property
    def breaks(self) -> list[BreakCost]:
        """Every distinct break with its cost, as they were met; `findings/recompiles.py` ranks them."""
        return costs_of(distinct_breaks(self.recording), self.recompiled)

    @cached_property
    def fallbacks(self) -> list[Fallback]:
        """Frames that run eager or raised an error, and why: not for a break that is counted, or a limit."""
        with_break = {id(frame) for cost in self.breaks for frame in cost.distinct.frames_fell_back}
        return [
            Fallback(process, frame, what_stopped(frame))
            for process in self.recording.processes
            for frame in process.frames
            # A limit of capture's own is the user's choice, and has a section of its own.
            if failed_to_compile(frame) and id(frame) not in with_break and frame.limit is None
            if not is_recompile_limit(frame.reason)
        ]

    @cached_property
    def at_recurrent_layers(self) -> list[tuple[Process, GraphBreak]]:
        """Where torch stopped at a recurrent layer of its own: in breaks, and in frames that fell back."""
        broke = ((process, each) for process in self.recording.processes for each in process.breaks)
        fell_back = ((each.process, each.stopped) for each in self.fallbacks)
        return [each for each in chain(broke, fell_back) if AT_A_RECURRENT_LAYER in each[1].kind]

    @cached_property
    def recompiled(self) -> list[FrameRecompiles]:
        """Every frame that was compiled again."""
        return frames_recompiled(self.recording.processes)

    @cached_property
    def echoes(self) -> Echoes:
        """The recompiles of resumed frames that follow from those of the frame above."""
        return Echoes(self.recompiled)

    @cached_property
    def _below_eager(self) -> dict[CompileKey, set[CompileKey]]:
        return below_eager_frames(self.recompiled)

    @cached_property
    def _all_below_eager(self) -> dict[CompileKey, set[CompileKey]]:
        return below_eager_frames(self.recompiled, every=True)

    def recompiles_below(
        self, processes: Sequence[Process], frames: Iterable[Frame], *, every: bool = False
    ) -> frozenset[CompileKey]:
        """The recompiles of what frames call that follow from their running eager; or `every` one below."""
        keys = (compile_key(each.stream, frame.compile_id) for each in processes for frame in frames)
        below = self._all_below_eager if every else self._below_eager
        return frozenset(chain.from_iterable(below.get(key, ()) for key in keys))

    @cached_property
    def _calls_of_lines(self) -> dict[Path, CallsOfLines]:
        return {each.stream: CallsOfLines(each) for each in self.recording.processes}

    def calls_of_the_line(self, distinct: DistinctBreak) -> frozenset[CompileKey]:
        """The compiles of what the line calls that breaks the graph, where it does not name that."""
        return frozenset(
            compile_key(each.stream, frame.compile_id)
            for each in distinct.processes
            for frame in self._calls_of_lines[each.stream].of(distinct.occurrences)
        )

    def recompiles_below_break(
        self, distinct: DistinctBreak, *, of_numbers: bool = False
    ) -> frozenset[CompileKey]:
        """The recompiles of functions that would be in the graph of their caller without the break."""
        keys = (
            below_breaks(distinct.occurrences, self.recompiled, each.stream, of_numbers=of_numbers)
            for each in distinct.processes
        )
        return frozenset(chain.from_iterable(keys))

    def recompiles_in_loops(self, distinct: DistinctBreak) -> frozenset[CompileKey]:
        """The recompiles for another `self` that follow from the break of a loop, which then runs eager."""
        met, eager = distinct.occurrences, distinct.frames_fell_back
        keys = (in_loops(met, eager, self.recompiled, each.stream) for each in distinct.processes)
        return frozenset(chain.from_iterable(keys))

    def recompiles_for_a_name(
        self, distinct: DistinctBreak, names: Collection[str], frame: StackFrame | None
    ) -> frozenset[CompileKey]:
        """The recompiles, of the break's function, for numbers of these names."""
        if frame is None:
            return frozenset()
        function = frame.place.file, function_of(frame.function)
        keys = (for_a_name(names, function, self.recompiled, each.stream) for each in distinct.processes)
        return frozenset(chain.from_iterable(keys))

    @cached_property
    def calls_to(self) -> Mapping[tuple[Path, str, str], tuple[StackFrame, ...]]:
        """The most calls by which compiled code came to a function with a break: by stream, file and name."""
        found: dict[tuple[Path, str, str], tuple[StackFrame, ...]] = {}
        met = ((process.stream, each) for process in self.recording.processes for each in process.breaks)
        for stream, each in met:
            for depth, frame in enumerate(each.stack):
                key = stream, frame.place.file, function_of(frame.function)
                if depth > len(found.setdefault(key, ())):
                    found[key] = each.stack[:depth]
        return found

    @cached_property
    def graph_times(self) -> list[GraphTime]:
        """Every graph whose calls were counted."""
        return graph_times(self.recording)

    @cached_property
    def _graph_times_by_process(self) -> dict[int, list[GraphTime]]:
        found: dict[int, list[GraphTime]] = {}
        for each in self.graph_times:
            found.setdefault(id(each.process), []).append(each)
        return found

    def graph_times_of(self, process: Process) -> list[GraphTime]:
        """The times of the graphs of one process."""
        return self._graph_times_by_process.get(id(process), [])

    def wall(self, process: Process) -> WallTime | None:
        """The wall time of a process, as frames, compiles and calls tell it.

        Without torch's phases, which only some reports read, so that every report has the same findings.
        """
        if id(process) not in self._walls:
            entire = replace(process.entire, phases=[], parallel_phases=[])
            self._walls[id(process)] = wall_time(entire, self.recording)
        return self._walls[id(process)]

    def outside_seconds(self, process: Process) -> float | None:
        """What a process spent neither compiling nor inside of compiled graphs, nor on starting and ending.

        None where it was not recorded.
        """
        if id(process) not in self._outside:
            self._outside[id(process)] = self._outside_of(process)
        return self._outside[id(process)]

    def most_won(self, process: Process) -> float | None:
        """The most seconds that compiling more of a process can win; None where nothing was recorded of them.

        That is the time outside of graphs, and no more than was computed at all: a server waits for requests.
        To wait for a GPU counts as computing, since CUDA asks it again and again (cudaDeviceScheduleAuto).
        """
        outside, run = self.outside_seconds(process), self.recording.run
        if outside is None:
            return None
        of_run = run.cpu_seconds if run is not None and self.is_in_cpu_time(process) else None
        return min(each for each in (outside, of_run, computed_seconds(process)) if each is not None)

    def is_in_cpu_time(self, process: Process) -> bool:
        """Whether the CPU time of the run has that of the process: the program's, or a child of it."""
        mains = {each.info.pid for each in self.recording.processes if is_main(each, self.recording)}
        return process.info.pid in mains or process.info.ppid in mains

    def _outside_of(self, process: Process) -> float | None:
        wall = self.wall(process)
        graphs, rest = (None if wall is None else wall.part(name) for name in (GRAPHS, REST))
        # Where the time inside of graphs is not known, it is in the rest.
        if graphs is None or graphs.seconds is None or rest is None or rest.seconds is None:
            return None
        backward = sum(c.seconds or 0.0 for c in process.entire.compiles if not c.is_forward)
        return max(0.0, rest.seconds - backward)
