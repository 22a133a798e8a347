"""The timeline for ui.perfetto.dev (chrome://tracing) and for speedscope.app.

Format of the first: "Trace Event Format",
docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (JSON object format; complete, instant
and metadata events). Times are microseconds, with the nanoseconds behind the point.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from dynamo_core import __version__
from dynamo_core.model import Process, Recording

from ...documents import json_text
from .tracks import (
    COMPILING,
    Mark,
    Slice,
    Track,
    life,
    marks,
    origin_ns,
    process_name,
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
    return _event("i", mark.name, pid, tid, mark.at_ns - origin, mark.details) | {"s": "t"}


def _complete(slice_: Slice, pid: int, tid: int, origin: int) -> _Event:
    place = {} if slice_.place is None else {"place": str(slice_.place)}
    event = _event("X", slice_.name, pid, tid, slice_.begin_ns - origin, {**slice_.details, **place})
    return event | {"dur": (slice_.end_ns - slice_.begin_ns) / 1000}


def _event(
    phase: str, name: str, pid: int, tid: int, begin_ns: int, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    known = {"ph": phase, "name": name, "cat": "dynamo", "pid": pid, "tid": tid}
    return known | {"ts": begin_ns / 1000, "args": dict(arguments)}


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
