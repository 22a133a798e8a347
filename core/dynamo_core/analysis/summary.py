"""The counts of a recording, each as torch counts it or None where it was not recorded."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Protocol, TypeVar

from ..model import Compile, CompileId, Deferred, Frame, GraphBreak, Place, Process, Recording
from ..shared.declared import Count, Seconds
from ..shared.quick_dataclass import dataclass


@dataclass(frozen=True)
class Summary:
    """One number for each question; the JSON document's `summary` has exactly these fields."""

    processes: Annotated[Count, "processes with a stream"]
    frames: Annotated[Count | None, 'torch\'s counters["frames"]["total"]']
    frames_compiled: Annotated[Count | None, 'torch\'s counters["frames"]["ok"]']
    whole_graph_frames: Annotated[Count | None, "frames of fullgraph=True, which torch does not count there"]
    frames_fell_back: Annotated[Count | None, "frames that Dynamo could not compile, so that they ran eager"]
    frames_left_eager: Annotated[
        Count | None, "frames that dynamo run left eager, by a limit or to keep eager's semantics"
    ]
    frames_raised: Annotated[Count | None, "frames whose compile raised an error in the program"]
    failed_compiles: Annotated[Count | None, "compilation metrics with a fail type"]
    graphs: Annotated[Count | None, 'torch\'s counters["stats"]["unique_graphs"]']
    ops: Annotated[Count | None, "call_* nodes of those graphs"]
    graph_calls: Annotated[Count | None, "calls of the compiled graphs"]
    graph_host_seconds: Annotated[Seconds | None, "in graph calls, forward and backward, as the host saw it"]
    graph_breaks: Annotated[Count | None, "torch's graph_break_reasons"]
    distinct_graph_breaks: Annotated[Count | None, "by place and kind"]
    recompiles: Annotated[Count | None, "compilation metrics that have a recompile reason"]
    guards: Annotated[Count | None, "torch's guard_count, over all compiles"]
    compile_time_s: Annotated[Seconds | None, "of all compilation metrics, forward and backward"]
    exit_code: Annotated[int | None, "of the program; null if a signal ended it"]
    signal: Annotated[int | None, "that ended the program"]


def never_tried(process: Process) -> list[Deferred]:
    """The frames that waited for the capture budget until the process ended."""
    tried = {(frame.name, frame.place) for frame in process.frames}
    return [each for each in process.interventions.deferred if (each.name, each.place) not in tried]


def summarize(recording: Recording) -> Summary:
    """Count over all processes of the recording."""
    processes = recording.processes
    graphs = [graph for process in processes for graph in process.graphs if graph.is_compiled]
    breaks = [graph_break for process in processes for graph_break in process.breaks]
    compiles = [compile_ for process in processes for compile_ in process.compiles]
    has_breaks, has_frames = breaks_recorded(recording), recorded(recording, "frames")
    has_graphs = graphs_recorded(recording)
    # Torch writes them when a compile has ended: of one that a process was killed in, nothing is known.
    is_unfinished = any(process.compiling or process.interrupted for process in processes)
    has_metrics = bool(compiles) or (recorded(recording) and not is_unfinished)
    has_calls = has_graphs and recorded(recording, "graph calls")
    frames = [frame for process in processes for frame in process.frames]
    counted = [frame for frame in frames if not frame.is_whole_graph]
    return Summary(
        processes=len(processes),
        frames=len(counted) if has_frames else None,
        frames_compiled=sum(frame.ok for frame in counted) if has_frames else None,
        whole_graph_frames=len(frames) - len(counted) if has_frames else None,
        frames_fell_back=sum(map(fell_back, frames)) if has_frames else None,
        frames_left_eager=sum(frame.limit is not None for frame in frames)
        + sum(len(never_tried(process)) for process in processes)
        if has_frames
        else None,
        frames_raised=sum(map(raised_error, frames)) if has_frames else None,
        failed_compiles=sum(c.fail_type is not None for c in compiles) if has_metrics else None,
        graphs=sum(len(process.compiled_graphs) for process in processes) if has_graphs else None,
        ops=_sum(_ops(process) for process in processes) if has_graphs else None,
        graph_calls=_sum([*(g.calls for g in graphs), *(p.inherited_calls for p in processes)])
        if has_calls
        else None,
        graph_host_seconds=_seconds(
            [*(g.seconds_with_backward for g in graphs), *(p.inherited_seconds for p in processes)]
        )
        if has_calls and recorded(recording, "backward calls")
        else None,
        graph_breaks=len(breaks) if has_breaks else None,
        distinct_graph_breaks=len(set(map(break_identity, breaks))) if has_breaks else None,
        recompiles=sum(len(process.recompiles) for process in processes)
        if recompiles_recorded(recording)
        else None,
        guards=sum(c.guards for c in compiles if c.guards is not None) if has_metrics else None,
        compile_time_s=_seconds(c.seconds for c in compiles) if has_metrics else None,
        exit_code=recording.run.exit_code if recording.run else None,
        signal=recording.run.signal if recording.run else None,
    )


def break_identity(graph_break: GraphBreak) -> tuple[object, str]:
    """Breaks at one place for one reason are one break, however often it was met."""
    return (graph_break.place, graph_break.kind)


def fell_back(frame: Frame) -> bool:
    """Whether Dynamo tried the frame and gave up on it, so that it ran eager."""
    return frame.outcome == "failed"


def failed_to_compile(frame: Frame) -> bool:
    """Whether Dynamo gave the frame up, so that it ran eager or raised an error in the program."""
    return frame.outcome == "failed" or raised_error(frame)


def raised_error(frame: Frame) -> bool:
    """Whether the compile raised an error in the program; an interrupt (Ctrl-C) is none."""
    return frame.outcome == "raised" and not frame.is_exit


def breaks_recorded(recording: Recording) -> bool:
    """Whether no break means that there was none."""
    if not recording.processes:
        return recorded(recording)
    return all(map(breaks_recorded_in, recording.processes))


def breaks_recorded_in(process: Process) -> bool:
    """Whether no break means that there was none in this process.

    torch wrote breaks into its trace before it wrote its version, so a trace with a version has them.
    Source: torch/_logging/_internal.py (LazyTraceHandler) and torch/_dynamo/symbolic_convert.py
    (log_graph_break), 2.8 to 2.15.
    """
    if process.is_ours:
        return "graph breaks" not in process.health.failed_probes
    return bool(process.breaks) or process.torch_version is not None


def graphs_recorded(recording: Recording) -> bool:
    """Whether no graph means that there was none. A trace of torch's has them wherever it has compiles."""
    if not recording.processes:
        return recorded(recording)
    if any("graphs" in process.health.failed_probes for process in recording.processes):
        return False
    return any(map(graphs_recorded_in, recording.processes))


def graphs_recorded_in(process: Process) -> bool:
    """Whether no graph means that there was none in this process."""
    if process.is_ours:
        return "graphs" not in process.health.failed_probes
    return bool(process.graphs or process.compiles)


def recompiles_recorded(recording: Recording) -> bool:
    """Whether no recompile means that there was none.

    Only torch's metrics tell a recompile, and those of an older torch do not. There it is known only that a
    frame whose compiles are all its first (`0/0`, never `0/1`) was not compiled again.
    """
    if not any(process.compiles for process in recording.processes):
        return recorded(recording)
    return all(map(recompiles_recorded_in, recording.processes))


def recompiles_recorded_in(process: Process) -> bool:
    """Whether the compiles of this process, if there are any, tell which of them is a recompile."""
    return all(compile_.tells_recompile or _is_first(compile_) for compile_ in process.compiles)


def _is_first(compile_: Compile) -> bool:
    """Whether torch's id says that the frame was not compiled before; a backward is no compile of a frame."""
    return not compile_.is_forward or (compile_.compile_id is not None and compile_.compile_id.compile == 0)


def recorded(recording: Recording, probe: str | None = None) -> bool:
    """Whether our engine ran in every process, and `probe` worked there: else a count of 0 means nothing."""
    if not recording.processes:
        return bool(recording.python_processes) and not recording.engine_failures
    return all(
        process.is_ours and probe not in process.health.failed_probes for process in recording.processes
    )


def _ops(process: Process) -> int | None:
    if not process.is_ours and not process.graphs:
        return None
    return _sum(graph.ops for graph in process.compiled_graphs)


def _sum(values: Iterable[int | None]) -> int | None:
    """The sum; None if one of the values was not recorded."""
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _seconds(values: Iterable[float | None]) -> float | None:
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return round(total, 6)


# What a recording cannot say, and why: where nothing is found of it, that is no sign that there was none.


_PLAIN_TRACE = "a plain torch trace does not have it; `dynamo run` records it"
_NO_FIRST_RECORD = "the first record of a process is missing: what there is of it may be incomplete"
_OLD_TRACE = "a trace of this version of torch does not tell; `dynamo run` records it"
_ONLY_OURS = ("frames", "graph calls", "bytecode")


def unrecorded(recording: Recording) -> dict[str, str]:
    """By its probe's name, or as counts have it: what was not recorded in some process, and why."""
    found = {"processes": recording.engine_failures[0]} if recording.engine_failures else {}
    for process in recording.processes:
        reasons = dict(process.health.failed_probes)
        no_counts = process.info.calls_not_recorded or process.health.calls_problem
        if no_counts and (process.is_ours or recording.run is not None):
            reasons["graph calls"] = no_counts
        if not process.is_ours:
            why = _PLAIN_TRACE if recording.run is None else _NO_FIRST_RECORD
            reasons |= dict.fromkeys(_ONLY_OURS, why)
            if not breaks_recorded_in(process):
                reasons["graph breaks"] = _OLD_TRACE
        if not recompiles_recorded_in(process):
            reasons["recompiles"] = _OLD_TRACE
        for name, why in reasons.items():
            found.setdefault(name, why)
    return found


def probe_failed(processes: Iterable[Process], *probes: str) -> str | None:
    """Why one of these probes failed in one of the processes; None where all of them worked."""
    whys = (process.health.failed_probes.get(probe) for process in processes for probe in probes)
    return next((why for why in whys if why is not None), None)


def were_not_recorded(what: str, processes: Iterable[Process], *probes: str) -> str:
    """`Graphs were not recorded (KeyError: 'x').`; the reason is there where a probe failed."""
    why = probe_failed(processes, *probes)
    return f"{what} were not recorded" + (f" ({why})." if why is not None else ".")


# Where the recording and torch's own counters differ.


def disagreements(processes: list[Process]) -> list[str]:
    """Where our counts differ from torch's own at the process's end; there should be none."""
    found = []
    for process in processes:
        totals = process.runtime.end.torch_totals if process.runtime.end else None
        if not totals or not process.is_ours:
            continue
        ours = {
            "unique_graphs": len(process.compiled_graphs),
            "frames_total": len(process.counted_frames),
            "frames_ok": sum(frame.ok for frame in process.counted_frames),
            "graph_break_reasons": len(process.breaks),
        }
        where = f"process {process.info.pid}"
        for name, count in ours.items():
            torchs = totals.get(name, count)
            if torchs != count:
                found.append(f"{where}: torch counts {torchs} {name}, the recording has {count}")
    return found


# What was recorded, by the compile that it is of, and by the frame that the compile is of.


class _OfACompile(Protocol):
    @property
    def compile_id(self) -> CompileId | None: ...


_V = TypeVar("_V")
_Item = TypeVar("_Item", bound=_OfACompile)


def frame_around(line: Place, frames: Iterable[Frame]) -> Frame | None:
    """The frame that a line is in, of those of its file and function's name: the last that begins there."""
    around = (each for each in frames if each.place.line <= line.line)
    return max(around, key=lambda each: each.place.line, default=None)


def frame_of(compile_id: CompileId | None) -> CompileId | None:
    """What all compiles of one frame have in common."""
    return compile_id and compile_id.of_frame


class ByCompile(dict[CompileId | None, _V]):
    """What is known of each compile. To be filled before anybody asks `of_frame`."""

    def of_frame(self, compile_id: CompileId | None) -> Mapping[CompileId | None, _V]:
        """The values of all compiles of this compile's frame, by compile id."""
        return self._by_frame.get(frame_of(compile_id), {})

    @cached_property
    def _by_frame(self) -> dict[CompileId | None, dict[CompileId | None, _V]]:
        by_frame: dict[CompileId | None, dict[CompileId | None, _V]] = {}
        for compile_id, value in self.items():
            by_frame.setdefault(frame_of(compile_id), {})[compile_id] = value
        return by_frame


def by_compile(recorded: Iterable[_Item]) -> ByCompile[list[_Item]]:
    """All that was recorded of each compile, in order."""
    found: ByCompile[list[_Item]] = ByCompile()
    for each in recorded:
        found.setdefault(each.compile_id, []).append(each)
    return found
