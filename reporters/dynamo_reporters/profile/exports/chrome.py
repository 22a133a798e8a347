"""The timeline for chrome://tracing and ui.perfetto.dev, from the begin of each process to its end.

Format: "Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (JSON
object format; complete, instant and metadata events). Times are microseconds, with the nanoseconds behind the
point.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from dynamo_core.model import Process, Recording

from ...exported import json_text
from .layout import Slice, Track
from .life import Mark, life, marks
from .names import process_name
from .tracks import origin_ns, tracks

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
