"""The timeline for speedscope.app: one profile a track.

Format: https://www.speedscope.app/file-format-schema.json (evented profiles). A frame there is a function:
all calls of a graph are of one, which is why their numbers are not in it.
"""

from collections.abc import Mapping
from typing import Any

from dynamo_core import __version__
from dynamo_core.model import Recording

from ...exported import json_text
from .layout import Slice, Track
from .names import process_name
from .tracks import COMPILING, origin_ns, tracks

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
