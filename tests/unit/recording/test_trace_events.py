"""The profiler's events on the timeline, from a trace that lies in memory."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.analysis.selection import Selection, select
from dynamo_core.model import CompileId, Graph, Process, ProcessInfo, ProfileWindow, Profiling, Recording
from dynamo_core.recording import trace_events, window
from dynamo_reporters.profile.exports.tracks import Track, window_tracks

BASE = 1_795_000_000_000_000_000
WINDOW = ProfileWindow(1, 4, 2.0, 7, 9, 0, (), (), (), None, 0, None)
Read = Callable[..., list[Track]]


def event(name: str, ts: float, dur: float, cat: str = "cpu_op", **more: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": 3, "tid": 9, "ts": ts, "dur": dur, **more}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Read:
    """What is on the timeline of a process whose profiler has written these events."""

    def tracks(
        *events: object, head: str = f'"baseTimeNanoseconds": {BASE}, ', part: bool = False
    ) -> list[Track]:
        trace = gzip.compress(f'{{{head}"traceEvents": {json.dumps(events)}}}'.encode())
        asked: list[Path] = []

        def opened(path: Path) -> io.BytesIO:
            asked.append(path)
            return io.BytesIO(trace)

        for module in (window, trace_events):
            monkeypatch.setattr(module, "open_plain", opened)
        graph = Graph(1, CompileId(0, 0), 0, None, "eager", 1)
        process = Process(
            Path("rec/s.log"), info=ProcessInfo(pid=5), profiling=Profiling(window=WINDOW), graphs=[graph]
        )
        if part:
            (process,) = select(Recording(Path("rec"), None, [process], 1, []), Selection(graph=1)).processes
        found = window_tracks(process)
        assert {path.parent for path in asked} <= {Path("rec")}
        return found

    return tracks


def shown(tracks: list[Track]) -> dict[str, list[tuple[str, int, int]]]:
    return {
        track.name: [(each.name, each.begin_ns - BASE, each.end_ns - BASE) for each in track.slices]
        for track in tracks
    }


def test_events_stand_on_their_threads_and_streams_by_the_nanosecond(read: Read) -> None:
    found = read(
        {"ph": "M", "name": "thread_name", "pid": 3, "tid": 9, "args": {"name": "main\x1b"}},
        event("aten::mm", 1.5, 10.25),
        event("aten::add", 3, 2, "user_annotation"),
        event("gemm", 4, 3, "kernel", pid=0, tid=7),
        event("memcpy", 5, 3, "gpu_memcpy", pid=0, tid=7),
        event("python", 0, 99, "python_function"),
    )
    assert shown(found) == {
        "profiled: main\\x1b": [("aten::mm", 1500, 11750), ("aten::add", 3000, 5000)],
        "profiled: device 0, thread 7": [("gemm", 4000, 7000)],
        "profiled: device 0, thread 7 (2)": [("memcpy", 5000, 8000)],
    }
    assert found[0].slices[0].details == {"profiler": "cpu_op"}


@pytest.mark.parametrize(
    "odd",
    [
        {"ph": "X"},
        event("x", "soon", 1),  # type: ignore[arg-type]
        event("x", 1, -1),
        event("x", -1e16, 1),
        event("x", 1e300, 1),
        event("x", 1, 1e16),
        event("x", float("nan"), 1),
        {"ph": "M", "name": "thread_name", "pid": 3, "tid": 9, "args": None},
        event("x", 1, 1, "no such kind"),
        {**event("x", 1, 1), "ph": "i"},
        {"ph": "M", "name": "process_name", "pid": 3, "tid": 9, "args": {"name": "python"}},
    ],
)
def test_what_is_no_event_of_a_known_kind_and_time_is_left_out(read: Read, odd: dict[str, Any]) -> None:
    found = read(odd, event("kept", 0, 1))
    assert shown(found) == {"profiled: thread 9": [("kept", 0, 1000)]}


def test_without_the_time_of_its_begin_a_trace_has_no_place_on_the_timeline(read: Read) -> None:
    assert read(event("x", 1, 1), head="") == []
    assert read({"baseTimeNanoseconds": 5}, event("x", 1, 1), head="") == [], "in an event, it is none"


def test_a_part_of_a_recording_has_no_profiled_window(read: Read) -> None:
    assert read(event("x", 1, 1), part=True) == []
    assert len(read(event("x", 1, 1))) == 1


@pytest.mark.parametrize(
    "trace",
    [b"", b"no gzip", gzip.compress(b'"baseTimeNanoseconds": 1, "traceEv')],
    ids=["empty", "no gzip", "cut"],
)
def test_a_trace_that_cannot_be_read_is_left_out(monkeypatch: pytest.MonkeyPatch, trace: bytes) -> None:
    for module in (window, trace_events):
        monkeypatch.setattr(module, "open_plain", lambda path: io.BytesIO(trace))
    assert (
        window_tracks(Process(Path("rec/s.log"), info=ProcessInfo(pid=5), profiling=Profiling(window=WINDOW)))
        == []
    )
    assert window_tracks(Process(Path("rec/s.log"), info=ProcessInfo(pid=5))) == []
