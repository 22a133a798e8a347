"""The timeline for chrome://tracing and ui.perfetto.dev, from the start of each process to its end.

Format: "Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (JSON
object format; complete, instant and metadata events). Times are microseconds, with the nanoseconds behind the
point.
"""

import csv
import io
import marshal
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from dynamo_core import __version__
from dynamo_core.analysis.time.compiles import CompileCost, compile_costs
from dynamo_core.analysis.time.phases import Span, spans
from dynamo_core.analysis.time.wall import COMPILING as COMPILING_TIME
from dynamo_core.analysis.time.wall import GRAPHS, Part, wall_time
from dynamo_core.analysis.words import frame_name, process_title
from dynamo_core.model import CallTimes, CompileId, Graph, Place, Process, Recording
from dynamo_core.shared.quick_dataclass import dataclass

from ...documents import csv_row, id_value, json_text
from .tracks import (
    COMPILING,
    INHERITED,
    CompileNames,
    Mark,
    Named,
    Slice,
    Track,
    frames_without_phases,
    graph_name,
    life,
    marks,
    origin_ns,
    process_name,
    start_up,
    tracks,
)

_Event = Mapping[str, Any]
_FIRST_TRACK = 1  # the process as a whole


def to_chrome_trace(recording: Recording) -> str:
    """Every process with its tracks as threads; times are from the run's begin."""
    of_processes = [[life(process, recording), *tracks(process)] for process in recording.processes]
    origin = origin_ns(of_processes, recording.run)
    events: list[_Event] = []
    pids = _pids(recording.processes)
    for position, (process, its_tracks) in enumerate(zip(recording.processes, of_processes, strict=True)):
        program = recording.run.program if recording.run is not None else None
        events += _process_events(process, pids[position], position, its_tracks, origin)
        if program is not None:
            events.append(_metadata("process_labels", pids[position], 0, labels=program))
    head = {
        "displayTimeUnit": "ms",
        "otherData": {"recording": str(recording.path), "begin_ns_since_epoch": str(origin)},
    }
    lines = ",\n".join(json_text(event) for event in events)
    return f'{json_text(head)[:-1]}, "traceEvents": [\n{lines}\n]}}\n'


def _pids(processes: Iterable[Process]) -> list[int]:
    """A number for each: its own, unless another has it (as on another host) or none was recorded."""
    pids: list[int] = []
    for process in processes:
        pid = process.info.pid
        if pid is None or pid in pids:
            pid = max([0, *pids]) + 1
        pids.append(pid)
    return pids


def _process_events(
    process: Process, pid: int, position: int, its_tracks: Iterable[Track], origin: int
) -> Iterable[_Event]:
    yield _metadata("process_name", pid, 0, name=process_name(process))
    yield _metadata("process_sort_index", pid, 0, sort_index=position)
    for tid, track in enumerate(its_tracks, _FIRST_TRACK):
        yield _metadata("thread_name", pid, tid, name=track.name)
        yield _metadata("thread_sort_index", pid, tid, sort_index=tid)
        for slice_ in track.slices:
            yield _complete(slice_, pid, tid, origin)
    for mark in marks(process):
        yield _instant(mark, pid, _FIRST_TRACK, origin)


def _metadata(what: str, pid: int, tid: int, **arguments: str | int) -> _Event:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": arguments}


def _instant(mark: Mark, pid: int, tid: int, origin: int) -> _Event:
    return {
        "ph": "i",
        "s": "t",
        "name": mark.name,
        "cat": "dynamo",
        "pid": pid,
        "tid": tid,
        "ts": (mark.at_ns - origin) / 1000,
        "args": mark.details,
    }


def _complete(slice_: Slice, pid: int, tid: int, origin: int) -> _Event:
    arguments = dict(slice_.details)
    if slice_.place is not None:
        arguments["place"] = str(slice_.place)
    return {
        "ph": "X",
        "name": slice_.name,
        "cat": "dynamo",
        "pid": pid,
        "tid": tid,
        "ts": (slice_.begin_ns - origin) / 1000,
        "dur": (slice_.end_ns - slice_.begin_ns) / 1000,
        "args": arguments,
    }


# The timeline for speedscope.app: one profile a track.
#
# Format: https://www.speedscope.app/file-format-schema.json (evented profiles). A frame there is a function:
# all calls of a graph are of one, which is why their numbers are not in it.


_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def to_speedscope(recording: Recording) -> str:
    """Every track of every process, in nanoseconds from the run's begin."""
    of_processes = [tracks(process) for process in recording.processes]
    origin = origin_ns(of_processes, recording.run)
    frames = _Frames()
    profiles = [
        _profile(f"{process_name(process)}: {track.name}", track, frames, origin)
        for process, its_tracks in zip(recording.processes, of_processes, strict=True)
        for track in its_tracks
    ]
    names = [track.name for its_tracks in of_processes for track in its_tracks]
    document = {
        "$schema": _SCHEMA,
        "name": recording.path.name,
        "exporter": f"dynamo {__version__}",
        "activeProfileIndex": names.index(COMPILING) if COMPILING in names else 0,
        "shared": {"frames": frames.table},
        "profiles": profiles,
    }
    return json_text(document) + "\n"


class _Frames:
    """The table that all profiles share, each function in it once."""

    def __init__(self) -> None:
        self.table: list[Mapping[str, Any]] = []
        self._indices: dict[Any, int] = {}

    def index(self, slice_: Slice) -> int:
        key = (slice_.function, slice_.place)
        if key not in self._indices:
            self._indices[key] = len(self.table)
            place = slice_.place
            where = {} if place is None else {"file": place.file, "line": place.line}
            self.table.append({"name": slice_.function, **where})
        return self._indices[key]


def _profile(name: str, track: Track, frames: _Frames, origin: int) -> Mapping[str, Any]:
    events: list[Mapping[str, Any]] = []
    is_open: list[tuple[int, int]] = []  # end, frame

    def close_until(moment: float) -> None:
        while is_open and is_open[-1][0] <= moment:
            end, frame = is_open.pop()
            events.append({"type": "C", "frame": frame, "at": end})

    for slice_ in track.slices:
        begin = slice_.begin_ns - origin
        close_until(begin)
        frame = frames.index(slice_)
        events.append({"type": "O", "frame": frame, "at": begin})
        is_open.append((slice_.end_ns - origin, frame))
    close_until(float("inf"))
    return {
        "type": "evented",
        "name": name,
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": max((event["at"] for event in events), default=0),
        "events": events,
    }


# The time report as a Python profile, for `python -m pstats`, snakeviz and whatever else reads those.
#
# Format: what cProfile.Profile.dump_stats writes and pstats.Stats.load_stats reads (Lib/cProfile.py,
# snapshot_stats), a marshalled {(file, line, name): (primitive calls, calls, own, cumulative, callers)} with
# callers {(file, line, name): (calls, primitive calls, own, cumulative)}. What has no place in a file is at
# ("~", 0), as built-in functions are.


_Function = tuple[str, int, str]
_Stack = tuple[_Function, ...]  # outermost first


@dataclass
class _Times:
    calls: int = 0
    primitive: int = 0
    own: float = 0.0
    cumulative: float = 0.0

    def add(self, calls: int, own: float, cumulative: float, *, is_recursive: bool = False) -> None:
        self.calls += calls
        self.own += own
        if not is_recursive:
            self.primitive += calls
            self.cumulative += cumulative


@dataclass
class _Entry(_Times):
    callers: dict[_Function, _Times] = field(default_factory=dict)


class _Stats:
    """What is called, with whom it was called by."""

    def __init__(self) -> None:
        self._entries: dict[_Function, _Entry] = {}

    def add(self, calls: int, own: float, cumulative: float, stack: _Stack, function: _Function) -> None:
        """Note calls of a function by the last of the stack."""
        is_recursive = function in stack
        entry = self._entries.setdefault(function, _Entry())
        entry.add(calls, own, cumulative, is_recursive=is_recursive)
        if stack:
            by = entry.callers.setdefault(stack[-1], _Times())
            by.add(calls, own, cumulative, is_recursive=is_recursive)

    def marshalled(self) -> bytes:
        return marshal.dumps(
            {
                function: (
                    entry.primitive,
                    entry.calls,
                    entry.own,
                    entry.cumulative,
                    {
                        caller: (by.calls, by.primitive, by.own, by.cumulative)
                        for caller, by in entry.callers.items()
                    },
                )
                for function, entry in self._entries.items()
            }
        )


def to_pstats(recording: Recording) -> bytes:
    """Each process calls the parts of its wall time; compiling calls its phases, and the graphs are called.

    The own times of a process add up to its wall time, as far as calls of graphs do not overlap. Where its
    begin is not known, as in a plain trace, and of a selected part, they add up to what is there.
    """
    stats = _Stats()
    for process in recording.processes:
        _Profile(stats, process, recording).add()
    if not recording.processes:
        stats.add(0, 0.0, 0.0, (), _nowhere("no process that imported torch"))
    return stats.marshalled()


class _Profile:
    """Adds one process to the statistics."""

    def __init__(self, stats: _Stats, process: Process, recording: Recording) -> None:
        self._stats = stats
        self._process = process
        self._title = process_title(process, recording)
        self._names = CompileNames(process)
        self._root = _nowhere(process_name(process))
        self._wall = wall_time(process, recording) if process.whole is None else None

    def add(self) -> None:
        """Add all of it, the parts first; the remainder is one of them."""
        if self._wall is None:
            known = self._compiles((self._root,)) + self._graphs((self._root,))
            self._stats.add(1, 0.0, known, (), self._root)
            return
        for part in self._wall.parts:
            self._part(part)
        self._stats.add(1, 0.0, self._wall.seconds, (), self._root)

    def _part(self, part: Part) -> None:
        if part.seconds is None:
            return
        estimated = " (estimated)" if part.basis == "sampled" else ""
        function = _nowhere(part.name + estimated + self._title)
        own = seconds = max(part.seconds, 0.0)  # the clock can be set back
        if part.name == COMPILING_TIME:
            own = max(seconds - self._compiles((self._root, function)), 0.0)
        elif part.name == GRAPHS:
            self._graphs((self._root, function))
            own = 0.0
        self._stats.add(1, own, seconds, (self._root,), function)

    def _compiles(self, stack: _Stack) -> float:
        """Add what was compiled; how long that took."""
        seconds = 0.0
        for tree in spans(self._process.phases):
            named = self._names.of(tree)
            seconds += self._phase(tree, stack, _function(named, self._title))
        return seconds

    def _phase(self, span: Span, stack: _Stack, function: _Function) -> float:
        """Add a phase and those in it; the own time of all of them."""
        own = span.own_ns / 1e9
        self._stats.add(1, own, max(span.total_ns, 0) / 1e9, stack, function)
        inner = (*stack, function)
        return own + sum(self._phase(child, inner, _nowhere(child.phase.name)) for child in span.children)

    def _graphs(self, stack: _Stack) -> float:
        """Add the calls of the graphs; how long those took."""
        seconds = 0.0
        for graph in self._process.graphs:
            named = Named(graph_name(graph), graph.frame_place)
            seconds += self._calls(named, graph.calls, graph.host_seconds, stack)
            if graph.backward is not None:
                named = Named(graph_name(graph, is_backward=True), graph.frame_place)
                seconds += self._calls(named, graph.backward.calls, graph.backward.seconds, stack)
        if self._process.whole is None:
            inherited, calls = self._process.inherited_seconds, self._process.inherited_calls
            seconds += self._calls(Named(INHERITED, None), calls, inherited, stack)
        return seconds

    def _calls(self, named: Named, calls: int | None, seconds: float | None, stack: _Stack) -> float:
        if not calls or seconds is None:
            return 0.0
        self._stats.add(calls, seconds, seconds, stack, _function(named, self._title))
        return seconds


def _function(named: Named, title: str) -> _Function:
    if named.place is None:
        return _nowhere(named.name + title)
    return named.place.file, named.place.line, named.name + title


def _nowhere(name: str) -> _Function:
    return "~", 0, name


# A row for each thing that took time: for spreadsheets and data frames.
#
# Format: RFC 4180, with a header. A cell is empty where a value is unknown or there is none.


COLUMNS = (
    "process",
    "kind",
    "name",
    "compile_id",
    "calls",
    "seconds",
    "self_seconds",
    "p50_seconds",
    "p99_seconds",
    "file",
    "line",
)


def to_csv(recording: Recording) -> str:
    """`kind` is one of startup, import, compile, frame, phase, parallel phase, graph, backward.

    A compile's seconds are those of its phases, which have `self_seconds` that add up: sum one or the other.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for process in recording.processes:
        for row in _rows(process):
            writer.writerow(csv_row({"process": process_name(process)} | row))
    return text.getvalue()


def _rows(process: Process) -> Iterable[dict[str, Any]]:
    imports = {f"import {each.module}" for each in process.runtime.imports}
    for slice_ in start_up(process):
        kind = "import" if slice_.name in imports else "startup"
        yield _row(kind, slice_.name, seconds=(slice_.end_ns - slice_.begin_ns) / 1e9)
    for cost in compile_costs(process):
        yield from _compile_rows(cost)
    for frame in frames_without_phases(process):
        name, where = frame_name(frame.name, frame.method), frame.place
        yield _row("frame", name, frame.compile_id, where, seconds=frame.seconds)
    for span in spans(process.parallel_phases):
        phase = span.phase
        yield _row("parallel phase", phase.name, phase.compile_id, seconds=span.total_ns / 1e9)
    for graph in process.graphs:
        yield from _graph_rows(graph)
    if process.whole is None:
        for times in process.runtime.inherited:
            calls, seconds = times.calls, times.seconds
            yield _row("graph", INHERITED, calls=calls, seconds=seconds, **_percentiles(times))


def _compile_rows(cost: CompileCost) -> Iterable[dict[str, Any]]:
    backward = "backward of " if cost.is_backward else ""
    name = backward + frame_name(cost.name, cost.method)
    yield _row("compile", name, cost.compile_id, cost.place, seconds=cost.seconds)
    for phase, spans_of_it in _by_name(cost.trees).items():
        yield _row(
            "phase",
            f"{backward}{phase}",
            cost.compile_id,
            cost.place,
            calls=len(spans_of_it),
            seconds=sum(span.total_ns for span, is_outermost in spans_of_it if is_outermost) / 1e9,
            self_seconds=sum(span.own_ns for span, _ in spans_of_it) / 1e9,
        )


def _by_name(trees: Iterable[Span]) -> dict[str, list[tuple[Span, bool]]]:
    """The phases of each name, and whether each is in no other of its name: that one's time has its own."""
    found: dict[str, list[tuple[Span, bool]]] = {}

    def visit(span: Span, around: frozenset[str]) -> None:
        name = span.phase.name
        found.setdefault(name, []).append((span, name not in around))
        for child in span.children:
            visit(child, around | {name})

    for tree in trees:
        visit(tree, frozenset())
    return found


def _graph_rows(graph: Graph) -> Iterable[dict[str, Any]]:
    name = f"graph {graph.number}"
    yield _row(
        "graph",
        name,
        graph.compile_id,
        graph.frame_place,
        calls=graph.calls,
        seconds=graph.host_seconds,
        **_percentiles(graph.times),
    )
    if graph.backward is not None:
        yield _row(
            "backward",
            f"backward of {name}",
            graph.compile_id,
            graph.frame_place,
            calls=graph.backward.calls,
            seconds=graph.backward.seconds,
            **_percentiles(graph.backward),
        )


def _percentiles(times: CallTimes | None) -> dict[str, Any]:
    return (
        {} if times is None else {"p50_seconds": times.percentile(0.5), "p99_seconds": times.percentile(0.99)}
    )


def _row(
    kind: str, name: str, compile_id: CompileId | None = None, place: Place | None = None, **numbers: Any
) -> dict[str, Any]:
    where = {} if place is None else {"file": place.file, "line": place.line}
    return {"kind": kind, "name": name, "compile_id": id_value(compile_id), **numbers, **where}
