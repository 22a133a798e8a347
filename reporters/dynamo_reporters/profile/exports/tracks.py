"""What a process did, as slices on tracks: the timeline that the formats of viewers share.

A slice is exactly what was measured, and what has no times is not on it. Of the calls of a graph only some
are recorded one by one; each of their slices says of how many calls they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dynamo_core.analysis.time.phases import Span, spans
from dynamo_core.analysis.words import compile_label, frame_name
from dynamo_core.model import CallTimes, Graph, Place, Process, Run

from .layout import Slice, Track, lay_out
from .names import INHERITED, CompileNames, frames_without_phases, graph_name
from .window import window_tracks

COMPILING = "compiling"
_LATEST_NS = 2**63  # what a clock can show


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
    timeline = process.timeline
    if timeline is not None and not process.info.forked:
        for name, begin, end in (
            ("starting Python", timeline.began_ns, timeline.armed_ns),
            ("import torch", timeline.torch_began_ns, timeline.torch_ended_ns),
            ("setting up this recording", timeline.torch_ended_ns, timeline.ready_ns),
        ):
            yield from _slice(name, begin, end)
    for each in process.imports:
        yield from _slice(f"import {each.module}", each.began_ns, each.ended_ns)


def _compiles(process: Process) -> Iterable[list[Slice]]:
    names = CompileNames(process)
    for phase in process.phases:
        (tree,) = spans([phase])
        named = names.of(tree)
        outermost, *inner = tree.walk()
        yield [_phase(outermost, named.name, named.place), *(_phase(span, span.phase.name) for span in inner)]


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
        for times in process.inherited:
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
