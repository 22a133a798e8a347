"""What a process did, as slices on tracks: the timeline that the formats of viewers share.

A slice is exactly what was measured, and what has no times is not on it. Of the calls of a graph only some
are recorded one by one; each of their slices says of how many calls they are.
"""

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from itertools import islice
from typing import Any

from dynamo_core.analysis.time.compiles import compile_costs
from dynamo_core.analysis.time.phases import Span, spans
from dynamo_core.analysis.time.wall import EXIT, wall_time
from dynamo_core.analysis.words import compile_label, frame_name
from dynamo_core.model import CallTimes, Frame, Graph, Place, Process, Recording, Run
from dynamo_core.recording.window import UNREADABLE, window_events
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.text import printable

# Put slices of time on tracks: on one, no two overlap unless one is part of the other.


@dataclass(frozen=True)
class Slice:
    """Something that went on for a time, from and to nanoseconds since the epoch.

    `function` is what it is one time of, the same for every call of a graph; `details` say more.
    """

    name: str
    begin_ns: int
    end_ns: int
    function: str
    place: Place | None = None
    details: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class Track:
    """Slices by begin, each after those that it lies in."""

    name: str
    slices: tuple[Slice, ...]


def lay_out(name: str, blocks: Iterable[Sequence[Slice]]) -> list[Track]:
    """The fewest tracks for these blocks: `name`, `name (2)` and so on. Empty where there is no slice.

    The slices of a block are parts of its first; different blocks are on one track only one after another,
    as what overlaps may have been in different threads.
    """
    pieces = sorted(
        (piece for block in blocks for piece in _nested(block)), key=lambda piece: piece[0].begin_ns
    )
    lanes: list[list[Slice]] = []
    busy: list[tuple[int, int]] = []  # until when, which lane
    free: list[int] = []
    for piece in pieces:
        while busy and busy[0][0] <= piece[0].begin_ns:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane = len(lanes)
            lanes.append([])
        lanes[lane] += piece
        heapq.heappush(busy, (max(slice_.end_ns for slice_ in piece), lane))
    return [
        Track(name if number == 1 else f"{name} ({number})", tuple(slices))
        for number, slices in enumerate(lanes, 1)
    ]


def _nested(block: Sequence[Slice]) -> list[list[Slice]]:
    """The block, without those that stick out of what they are in, as where the clock was set back."""
    fitting: list[Slice] = []
    alone: list[list[Slice]] = []
    around: list[Slice] = []
    for slice_ in sorted(block, key=lambda each: (each.begin_ns, -each.end_ns)):
        while around and around[-1].end_ns <= slice_.begin_ns:
            around.pop()
        if around and slice_.end_ns > around[-1].end_ns:
            alone.append([slice_])
            continue
        around.append(slice_)
        fitting.append(slice_)
    return [fitting, *alone] if fitting else alone


# What things are called in every export: torch's compile ids in front.


_LONGEST_S = 1e9
INHERITED = "graph of the parent process"
# torch's names for the phase around all of a compile
_OUTERMOST = ("dynamo", "entire_backward_compile")


def compile_names(process: Process) -> Callable[[Span], tuple[str, Place | None]]:
    """What names an outermost phase after its compile, and says where in the program that is, if known."""
    frames = {
        (cost.compile_id, cost.is_backward): (frame_name(cost.name, cost.method), cost.place)
        for cost in compile_costs(process)
    }

    def name_of(tree: Span) -> tuple[str, Place | None]:
        phase, is_backward = tree.phase, tree.kind.is_backward
        if phase.compile_id is None:
            return phase.name, None
        name, place = frames.get((phase.compile_id, is_backward), (frame_name(None), None))
        what = "compile" if phase.name in _OUTERMOST else phase.name
        direction = "backward of " if is_backward else ""
        return f"{what} {compile_label(phase.compile_id)} {direction}{name}", place

    return name_of


def graph_name(graph: Graph, *, is_backward: bool = False) -> str:
    """`graph 3 [0/1]`."""
    name = f"graph {graph.number} {compile_label(graph.compile_id)}"
    return f"backward of {name}" if is_backward else name


def process_name(process: Process) -> str:
    """`rank 1`, `process 4711`, or the name of its stream."""
    if process.rank is not None:
        return f"rank {process.rank}"
    pid = process.info.pid
    return f"process {pid}" if pid is not None else printable(process.stream.name)


def frames_without_phases(process: Process) -> Iterable[Frame]:
    """The frames that were looked at and timed, but of which torch recorded no compile."""
    recorded = {phase.compile_id for phase in process.phases}
    for frame in process.frames:
        is_timed = frame.seconds is not None and 0 <= frame.seconds < _LONGEST_S
        if is_timed and (frame.compile_id is None or frame.compile_id not in recorded):
            yield frame


# The events of the profiled window, on the timeline of everything else: operators, launches and kernels.


_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
_HOST = ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")
_MOST_EVENTS = 1_000_000
_LATEST_NS = 2**63

_Thread = tuple[str, str]


def window_tracks(process: Process) -> list[Track]:
    """A track for each thread and each stream of a device; none where the trace cannot be read."""
    threads = _Threads()
    try:
        for base, event in islice(window_events(process), _MOST_EVENTS):
            threads.add(event, base)
    except UNREADABLE:
        return []
    return threads.tracks()


class _Threads:
    """The slices of each thread of the host, and of each stream of a device."""

    def __init__(self) -> None:
        self._names: dict[_Thread, str] = {}
        self._host: dict[_Thread, list[Slice]] = {}
        self._device: dict[_Thread, list[Slice]] = {}

    def add(self, event: Mapping[str, Any], base: int) -> None:
        """Take one event; what cannot be understood is left out."""
        try:
            thread = str(event["pid"]), str(event["tid"])
            category = event.get("cat")
            if event["ph"] == "M" and event["name"] == "thread_name":
                self._names[thread] = printable(str(event["args"]["name"]))
            elif event["ph"] == "X" and category in _HOST + _DEVICE:
                of_threads = self._device if category in _DEVICE else self._host
                of_threads.setdefault(thread, []).append(_slice_of_event(event, category, base))
        except (KeyError, TypeError, ValueError, OverflowError):
            pass

    def tracks(self) -> list[Track]:
        """The tracks of the host, where one event lies in another; then of the devices."""
        found: list[Track] = []
        for thread, slices in self._host.items():
            found += lay_out(f"profiled: {self._name(thread)}", [slices])
        for thread, slices in self._device.items():
            name = f"profiled: device {printable(thread[0])}, {self._name(thread)}"
            found += lay_out(name, ([each] for each in slices))
        return found

    def _name(self, thread: _Thread) -> str:
        return self._names.get(thread) or f"thread {printable(thread[1])}"


def _slice_of_event(event: Mapping[str, Any], category: str, base: int) -> Slice:
    name = printable(str(event["name"]))
    begin = base + _nanoseconds(event["ts"])
    end = begin + _nanoseconds(event["dur"])
    if not 0 <= begin <= end < _LATEST_NS:
        raise ValueError("no time")
    return Slice(name, begin, end, name, details={"profiler": category})


def _nanoseconds(microseconds: Any) -> int:
    """Apart from its whole part, of which a product in floating point would round the last figures."""
    value = float(microseconds)
    return int(value) * 1000 + round(value % 1 * 1000)


COMPILING = "compiling"


def tracks(process: Process) -> list[Track]:
    """Start-up, compiling, the compiled graphs, their backwards, the profiled window."""
    compiling = [*_compiles(process), *([each] for each in _frames(process))]
    return [
        *lay_out("start-up", [list(start_up(process))]),
        *lay_out(COMPILING, compiling),
        *lay_out("compiling, in parallel", ([each] for each in _parallel(process))),
        *lay_out("compiled graphs", ([each] for each in _forwards(process))),
        *lay_out("backward graphs", ([each] for each in _backwards(process))),
        *window_tracks(process),
    ]


def start_up(process: Process) -> Iterable[Slice]:
    """Until the program could begin, and the imports of the compiler; of a selected part there is none."""
    if process.whole is not None:
        return
    timeline = process.runtime.timeline
    if timeline is not None and not process.info.forked:
        for name, begin, end in (
            ("starting Python", process.info.began_ns, timeline.armed_ns),
            ("import torch", timeline.torch_began_ns, timeline.torch_ended_ns),
            ("setting up this recording", timeline.torch_ended_ns, timeline.ready_ns),
        ):
            yield from _slice(name, begin, end)
    for each in process.runtime.imports:
        yield from _slice(f"import {each.module}", each.began_ns, each.ended_ns)


def _compiles(process: Process) -> Iterable[list[Slice]]:
    name_of = compile_names(process)
    for phase in process.phases:
        (tree,) = spans([phase])
        outermost, *inner = tree.walk()
        yield [_phase(outermost, *name_of(tree)), *(_phase(span, span.phase.name) for span in inner)]


def _phase(span: Span, name: str, place: Place | None = None) -> Slice:
    phase = span.phase
    details: dict[str, str | int] = {"phase": phase.name}
    if phase.compile_id is not None:
        details["compile_id"] = str(phase.compile_id)
    if phase.function is not None:
        details["function"] = phase.function
    if phase.cache_state is not None:
        details["cache"] = phase.cache_state
    if phase.end_ns is None:
        details["end"] = "not recorded"
    end = max(span.begin_ns, span.end_ns)  # of what was cut off, the last that is known may be before it
    return Slice(name, span.begin_ns, end, name, place, details)


def _parallel(process: Process) -> Iterable[Slice]:
    for span in spans(process.parallel_phases):
        yield _phase(span, f"{span.phase.name} {compile_label(span.phase.compile_id)}")


def _frames(process: Process) -> Iterable[Slice]:
    for frame in frames_without_phases(process):
        if frame.ended_ns is not None and frame.seconds is not None:
            name = f"frame {compile_label(frame.compile_id)} {frame_name(frame.name, frame.method)}"
            details = {"outcome": frame.outcome} | ({"reason": frame.reason} if frame.reason else {})
            begin = frame.ended_ns - round(frame.seconds * 1e9)
            yield from _slice(name, begin, frame.ended_ns, name, frame.place, details)


def _forwards(process: Process) -> Iterable[Slice]:
    for graph in process.graphs:
        if graph.times is not None:
            yield from _calls(graph.times, graph_name(graph), graph)
    if process.whole is None:
        for times in process.runtime.inherited:
            yield from _calls(times, INHERITED, None)


def _backwards(process: Process) -> Iterable[Slice]:
    for graph in process.graphs:
        if graph.backward is not None:
            yield from _calls(graph.backward, graph_name(graph, is_backward=True), graph)


def _calls(times: CallTimes, name: str, graph: Graph | None) -> Iterable[Slice]:
    compile_id, place = (None, None) if graph is None else (graph.compile_id, graph.frame_place)
    recorded = {call.number: call for call in (*times.samples, *times.early)}
    for number, call in sorted(recorded.items()):
        details: dict[str, str | int] = {"call": number, "sampled": f"{len(recorded)} of {times.calls} calls"}
        if compile_id is not None:
            details["compile_id"] = str(compile_id)
        end = call.began_ns + round(call.seconds * 1e9)
        yield from _slice(f"{name} call {number}", call.began_ns, end, name, place, details)


def _slice(
    name: str,
    begin: Any,
    end: Any,
    function: str | None = None,
    place: Place | None = None,
    details: Mapping[str, str | int] | None = None,
) -> Sequence[Slice]:
    """One slice; none where either time is not known, or the clock was set back in between."""
    if not isinstance(begin, int) or not isinstance(end, int) or not -_LATEST_NS < begin <= end < _LATEST_NS:
        return ()
    return (Slice(name, begin, end, function or name, place, details or {}),)


def origin_ns(of_processes: Iterable[Sequence[Track]], run: Run | None) -> int:
    """What times are counted from: the run's begin, or what was earlier by the kernel's coarser clock."""
    moments = [each.begin_ns for some in of_processes for track in some for each in track.slices]
    if run is not None and run.started_ns is not None:
        moments.append(run.started_ns)
    return min(moments, default=0)


# A process from its begin to its end, and the moments at which something happened to its compiling.


@dataclass(frozen=True)
class Mark:
    """Something that took no time, at nanoseconds since the epoch."""

    name: str
    at_ns: int
    details: dict[str, str | int] = field(default_factory=dict)


def life(process: Process, recording: Recording) -> Track:
    """The process as one slice to its very end, with the time in which Python left it.

    Empty where its begin is not known, and of a selected part.
    """
    wall = wall_time(process, recording) if process.whole is None else None
    if wall is None:
        return Track("process", ())
    details: dict[str, str | int] = {} if wall.saw_end else {"end": "not recorded: the last that is known"}
    if recording.run is not None and recording.run.program is not None:
        details["program"] = recording.run.program
    slices = [Slice("process", wall.begin_ns, wall.end_ns, "process", details=details)]
    leaving = wall.part(EXIT)
    if leaving is not None and leaving.seconds:
        slices.append(Slice(EXIT, wall.end_ns - round(leaving.seconds * 1e9), wall.end_ns, EXIT))
    return Track("process", tuple(slices))


def marks(process: Process) -> list[Mark]:
    """Graph breaks, recompiles refused after a freeze, and the freeze; what has no moment has no mark."""
    return sorted([*_breaks(process), *_refused(process), *_freeze(process)], key=lambda mark: mark.at_ns)


def _breaks(process: Process) -> Iterable[Mark]:
    for graph_break in process.breaks:
        if graph_break.at_ns is not None:
            details: dict[str, str | int] = {"compile": compile_label(graph_break.compile_id)}
            if graph_break.place is not None:
                details["place"] = str(graph_break.place)
            yield Mark(f"graph break: {graph_break.kind}", graph_break.at_ns, details)


def _refused(process: Process) -> Iterable[Mark]:
    for item in process.interventions.not_compiled:
        if item.at_ns is not None and item.name is not None:
            details: dict[str, str | int] = {"times": item.times}
            if item.place is not None:
                details["place"] = str(item.place)
            if item.reasons:
                details["reason"] = item.reasons[0]
            yield Mark(f"not compiled: {frame_name(item.name, item.method)}", item.at_ns, details)


def _freeze(process: Process) -> Iterable[Mark]:
    freeze = process.interventions.freeze
    if freeze is not None and freeze.frozen:
        yield Mark("freeze: nothing is compiled from here on", freeze.at_ns)
