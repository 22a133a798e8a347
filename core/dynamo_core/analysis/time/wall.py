"""The wall time of a process, split into parts that add up to it; profiled windows; sums over processes."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from ...model import CallTimes, EagerOperator, Process, ProfileWindow, Recording, WindowKernel
from ...shared.quick_dataclass import dataclass
from ..summary import probe_failed
from ..words import number
from .phases import CompileSplit, split

Basis = Literal["measured", "sampled", "remainder"]
Interval = tuple[int, int]


@dataclass(frozen=True)
class Part:
    """A part of the wall time. `basis` says how it is known; `seconds` is None where it is not known.

    `parts` lie within it, and need not add up to it.
    """

    name: str
    seconds: float | None
    basis: Basis = "measured"
    note: str = ""
    parts: tuple["Part", ...] = ()


@dataclass(frozen=True)
class WallTime:
    """The life of a process, from `begin_ns` to `end_ns` (since the epoch), and what it was spent on.

    Where `saw_end` is False the process left no last record, and `end_ns` is the last recorded moment.
    """

    begin_ns: int
    end_ns: int
    saw_end: bool
    parts: tuple[Part, ...]

    @property
    def seconds(self) -> float:
        """The whole wall time."""
        return (self.end_ns - self.begin_ns) / 1e9

    def part(self, name: str) -> Part | None:
        """The part of this name, if there is one."""
        return next((part for part in self.parts if part.name == name), None)


BEFORE_TORCH = "before torch"
IMPORTING_TORCH = "importing torch"
THIS_TOOL = "setting up this recording"
IMPORTING_COMPILER = "importing the compiler"
COMPILING = "compiling"
GRAPHS = "inside compiled graphs"
GUARDS = "guards and cache look-ups"
PROFILER = "torch.profiler, for --profile"
TRIALS = "trying changes, for --try"
EXIT = "interpreter shutdown"
REST = "eager code and the rest"


def wall_time(
    process: Process, recording: Recording, compile_split: CompileSplit | None = None
) -> WallTime | None:
    """The wall time of a process in parts; None where its begin was not recorded (as in a plain trace).

    `compile_split` is that of the entire process, where it is known already.
    """
    process = process.entire
    begin = _moment(process.info.began_ns) or _moment(process.info.started_ns)
    if begin is None:
        return None
    end, saw_end = _end(process, recording)
    if end is None or end <= begin:
        return None
    known = [*_start_up(process, begin), *_compiling(process, compile_split), *_calls(process)]
    if process.profiling.seconds is not None:
        known.append(Part(PROFILER, process.profiling.seconds, note="starting, stopping and writing it"))
    if process.interventions.tried_changes:
        known.append(Part(TRIALS, sum(each.seconds for each in process.interventions.tried_changes)))
    last = _moment(process.runtime.end.ended_ns if process.runtime.end else None)
    if last is not None and saw_end and last < end:
        known.append(Part(EXIT, (end - last) / 1e9))
    rest = (end - begin) / 1e9 - sum(part.seconds or 0.0 for part in known)
    overlap = "parts of several threads overlap" if rest < 0 else ""
    return WallTime(begin, end, saw_end, (*known, Part(REST, max(rest, 0.0), "remainder", overlap)))


def is_main(process: Process, recording: Recording) -> bool:
    """Whether this is the process that `dynamo run` itself started."""
    launcher = recording.run.launcher_pid if recording.run else None
    return launcher is not None and process.info.ppid == launcher


def _end(process: Process, recording: Recording) -> tuple[int | None, bool]:
    if is_main(process, recording):
        ended = _moment(recording.run.ended_ns if recording.run else None)
        if ended is not None:
            return ended, True
    ended = _moment(process.runtime.end.ended_ns if process.runtime.end else None)
    if ended is not None:
        return ended, True
    return max(_known_moments(process), default=None), False


def _moment(value: int | None) -> int | None:
    return value if value is not None and 0 < value < 2**63 else None


def _known_moments(process: Process) -> Iterable[int]:
    yield from (frame.ended_ns for frame in process.frames if frame.ended_ns is not None)
    yield from (phase.last_ns for phase in process.phases)
    for times in call_times(process):
        yield from (call.began_ns + int(call.seconds * 1e9) for call in (*times.early, *times.samples))
    if process.runtime.timeline is not None:
        yield process.runtime.timeline.ready_ns


def call_times(process: Process) -> Iterable[CallTimes]:
    """The calls of every compiled graph and backward of a process, and of the graphs that it inherited."""
    yield from process.runtime.inherited
    for graph in process.graphs:
        yield from (times for times in (graph.times, graph.backward) if times is not None)


def _start_up(process: Process, begin: int) -> Iterable[Part]:
    timeline = process.runtime.timeline
    if timeline is None or process.info.forked:
        return
    began, ended, ready = timeline.torch_began_ns, timeline.torch_ended_ns, timeline.ready_ns
    if began is None or ended is None:
        return
    if not begin <= began <= ended <= ready:  # the clock was set back
        return
    armed = timeline.armed_ns
    is_known = armed is not None and begin <= armed <= began
    python = (Part("starting Python", (armed - begin) / 1e9),) if armed is not None and is_known else ()
    yield Part(BEFORE_TORCH, (began - begin) / 1e9, parts=python)
    yield Part(IMPORTING_TORCH, (ended - began) / 1e9)
    yield Part(THIS_TOOL, (ready - ended) / 1e9)


def _compiling(process: Process, by_kind: CompileSplit | None) -> Iterable[Part]:
    phases = merged((phase.begin_ns, phase.last_ns) for phase in process.phases)
    compiling = compile_intervals(process)
    imports = merged((each.began_ns, each.ended_ns) for each in process.runtime.imports)
    outside = _length(merged([*imports, *compiling])) - _length(compiling)
    if process.runtime.imports:
        modules = " and ".join(dict.fromkeys(each.module for each in process.runtime.imports))
        yield Part(IMPORTING_COMPILER, outside / 1e9, note=f"{modules}, where not within a compile")
    if not compiling and probe_failed([process], "frames") is not None:
        yield Part(COMPILING, None)
        return
    if not (process.frames or process.phases or process.compiles or process.graphs):
        return
    parts = [Part("looking at frames", (_length(compiling) - _length(phases)) / 1e9)] if compiling else []
    by_kind = by_kind or split(process)
    if by_kind is not None:
        parts[:0] = [
            Part(category, by_kind.of(category), parts=_directions(category, by_kind))
            for category in by_kind.categories
        ]
    inside = _length(imports) - outside
    note = f"{inside / 1e9:.2f} s of it importing the compiler" if inside > 0 else ""
    yield Part(COMPILING, _length(compiling) / 1e9, note=note, parts=tuple(parts))


def _directions(category: str, by_kind: CompileSplit) -> tuple[Part, ...]:
    backward = by_kind.of(category, True)
    return (Part("forward", by_kind.of(category, False)), Part("backward", backward)) if backward else ()


def _frames(process: Process) -> Iterable[Interval]:
    for frame in process.frames:
        if frame.ended_ns is not None and frame.seconds is not None:
            yield frame.ended_ns - int(frame.seconds * 1e9), frame.ended_ns


def compile_intervals(process: Process) -> list[Interval]:
    """The intervals in which Dynamo looked at a frame, or a backward was compiled."""
    return merged([*((phase.begin_ns, phase.last_ns) for phase in process.phases), *_frames(process)])


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """The intervals without their overlaps, in order."""
    found: list[Interval] = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif end > begin:
            found.append((begin, end))
    return found


def _length(intervals: Iterable[Interval]) -> int:
    return sum(end - begin for begin, end in intervals)


def _calls(process: Process) -> Iterable[Part]:
    forward = [graph.times for graph in process.graphs if graph.times is not None]
    backward = [graph.backward for graph in process.graphs if graph.backward is not None]
    inside = sum(times.seconds for times in (*forward, *backward)) + process.inherited_seconds
    are_counted = probe_failed([process], "graphs", "graph calls", "backward calls") is None
    if (
        not are_counted
        or process.runtime.overlap_seconds is None
        or process.runtime.compiling_in_calls_seconds is None
    ):
        yield Part(GRAPHS, None)
        return
    doubled = process.runtime.overlap_seconds + process.runtime.compiling_in_calls_seconds
    yield Part(
        GRAPHS,
        max(inside - doubled, 0.0),
        _basis((*forward, *backward, *process.runtime.inherited)),
        parts=(
            Part("forward", sum(times.seconds for times in forward), _basis(forward)),
            Part("backward", sum(times.seconds for times in backward), _basis(backward)),
        )
        if backward
        else (),
    )
    called = [times for times in forward if times.calls]
    # Inherited calls without a sample do not count as missing: they may be of a backward, which has no
    # guards.
    totals = [times.guard_seconds_in_all for times in (*called, *process.runtime.inherited)]
    timed = [total for total in totals if total is not None]
    seconds = sum(timed) if timed else None
    missing = sum(times.guard_seconds is None for times in called)
    if called or process.inherited_calls:
        note = "calls times what some evaluations took"
        if missing:
            note += f"; {number(missing, 'graph')} not sampled"
        yield Part(GUARDS, seconds, "sampled", note)


def _basis(calls: Iterable[CallTimes]) -> Basis:
    """How the time of calls is known: of very short calls only a sample is timed."""
    return "sampled" if any(times.untimed for times in calls) else "measured"


def coverage(window: ProfileWindow) -> dict[str, float | None]:
    """The shares, from 0 to 1, of what ran inside compiled graphs; None where there was nothing at all."""
    inside = sum(part.seconds for part in window.parts)
    calls = sum(part.operator_calls for part in window.parts)
    kernels = window.kernels or ()
    in_parts = sum_seconds(kernel for kernel in kernels if kernel.graph is not None)
    return {
        "time": _share(inside, inside + sum_seconds(window.eager)),
        "operators": _share(calls, calls + calls_of(window.eager)),
        "kernel_time": _share(in_parts, sum_seconds(kernels)),
    }


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


def sum_seconds(items: Iterable[EagerOperator | WindowKernel]) -> float:
    """The seconds of operators or kernels in all."""
    return sum(item.seconds for item in items)


def calls_of(operators: Iterable[EagerOperator]) -> int:
    """The calls of operators in all."""
    return sum(operator.calls for operator in operators)


def across_ranks(spent: Iterable[tuple[Process, float]]) -> float:
    """The seconds that several processes spent, as seconds of the run: an upper bound of what can be saved.

    Of the ranks of a job, which run at the same time, the largest counts; everything else is added up. Any
    other process may have been waited for: a script may start processes one after the other, and a parent may
    wait for its children. For the same reason a rank's forked workers, and an earlier process of the same
    rank in the same attempt, add to that rank, and each attempt at a job to the one before.
    """
    without_rank = 0.0
    jobs: defaultdict[object, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    for process, seconds in spent:
        if process.rank is None:
            without_rank += seconds
        else:
            launch = process.info.job, tuple(process.info.attempt or ())
            jobs[launch][process.rank] += seconds
    return without_rank + sum(max(seconds_of_rank.values()) for seconds_of_rank in jobs.values())
