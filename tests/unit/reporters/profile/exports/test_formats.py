"""The exports are valid in their formats and say what was measured, whatever the recording."""

import gzip
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema_rs
from hypothesis import Phase as HypothesisPhase
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamo_core.analysis.selection import Selection, select
from dynamo_core.model import (
    CallSample,
    CallTimes,
    CompileId,
    Frame,
    FreezeNoted,
    Graph,
    GraphBreak,
    Import,
    NotCompiled,
    Phase,
    Place,
    Process,
    ProcessEnd,
    ProcessInfo,
    ProfileWindow,
    Profiling,
    Recording,
    Run,
    Runtime,
    StackFrame,
    Timeline,
)
from dynamo_reporters.profile.exports.formats import (
    to_chrome_trace,
    to_speedscope,
)
from dynamo_reporters.profile.exports.tracks import Slice, lay_out

ID = CompileId(0, 1)
PLACE = Place("/home/user/train.py", 7)
MS = 1_000_000
BEGIN = 1_795_258_105_979_332_231
_FRAME = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "file": {"type": "string"}, "line": {"type": "number"}},
    "required": ["name"],
    "additionalProperties": False,
}
_EVENT = {
    "type": "object",
    "properties": {
        "type": {"enum": ["O", "C"]},
        "frame": {"type": "integer", "minimum": 0},
        "at": {"type": "number"},
    },
    "required": ["type", "frame", "at"],
    "additionalProperties": False,
}
_PROFILE = {
    "type": "object",
    "properties": {
        "type": {"const": "evented"},
        "name": {"type": "string"},
        "unit": {"enum": ["bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds"]},
        "startValue": {"type": "number"},
        "endValue": {"type": "number"},
        "events": {"type": "array", "items": _EVENT},
    },
    "required": ["type", "name", "unit", "startValue", "endValue", "events"],
    "additionalProperties": False,
}
# What of https://www.speedscope.app/file-format-schema.json evented profiles use.
SPEEDSCOPE = {
    "type": "object",
    "properties": {
        "$schema": {"const": "https://www.speedscope.app/file-format-schema.json"},
        "name": {"type": "string"},
        "exporter": {"type": "string"},
        "activeProfileIndex": {"type": "number"},
        "shared": {"type": "object", "properties": {"frames": {"type": "array", "items": _FRAME}}},
        "profiles": {"type": "array", "items": _PROFILE},
    },
    "required": ["$schema", "shared", "profiles"],
    "additionalProperties": False,
}


def at(milliseconds: float) -> int:
    return BEGIN + round(milliseconds * MS)


def phase(name: str, begin: float, end: float | None, *children: Phase, **more: Any) -> Phase:
    """A phase of [0/1], in milliseconds from the run's begin."""
    given_id = more.pop("compile_id", ID)
    end_ns = None if end is None else at(end)
    return Phase(name, at(begin), end_ns, given_id, children=children, **more)


def calls(*spans: tuple[int, float, float], of: int) -> CallTimes:
    """(number, begin, duration), in milliseconds."""
    samples = tuple(CallSample(number, at(begin), length / 1e3) for number, begin, length in spans)
    return CallTimes(of, 0.5, {(MS, 2 * MS): of}, samples[:1], samples, None)


def graph(number: int, times: CallTimes | None, backward: CallTimes | None = None) -> Graph:
    made = Graph(number, ID, 0, None, "inductor", 1, frame_name="step", frame_place=PLACE, is_compiled=True)
    made.times, made.backward = times, backward
    if times is not None:
        made.calls, made.host_seconds = times.calls, times.seconds
    return made


def process(pid: int, **more: Any) -> Process:
    tracing = phase("bytecode_tracing", 120, 140)
    inner = phase("GraphLowering.run", 150, 160)
    lowering = phase("GraphLowering.run", 145, 170, inner, cache_state="miss")
    compile_ = phase("dynamo", 100, 200, tracing, lowering)
    backward = phase("entire_backward_compile", 300, 320, is_backward=True)
    return Process(
        Path("stream.log"),
        info=ProcessInfo(pid=pid, ppid=1, began_ns=at(0)),
        runtime=Runtime(
            timeline=Timeline(armed_ns=at(10), torch_began_ns=at(20), torch_ended_ns=at(50), ready_ns=at(55)),
            imports=[Import(module="torch._dynamo", began_ns=at(60), ended_ns=at(90))],
            end=ProcessEnd(ended_ns=at(990)),
            overlap_seconds=0.0,
            compiling_in_calls_seconds=0.0,
        ),
        phases=[compile_, backward],
        parallel_phases=[phase("compile_file", 150, 155), phase("compile_file", 152, 153)],
        frames=[
            Frame("step", PLACE, "compiled", None, True, False, ID, ended_ns=at(201), seconds=0.102),
            Frame(
                "helper", PLACE, "skipped", "no torch", False, False, None, ended_ns=at(210), seconds=0.002
            ),
        ],
        graphs=[
            graph(1, calls((1, 220, 20), (65, 250, 3), (129, 251, 1), of=128), calls((1, 330, 5), of=1)),
            graph(2, calls((1, 252, 20), of=1)),
            graph(3, None),
        ],
        **more,
    )


def recording(*processes: Process) -> Recording:
    run = Run(started_ns=at(0), ended_ns=at(1000), launcher_pid=1)
    return Recording(Path("rec"), run, list(processes), None, [])


def chrome_tracks(content: str) -> dict[tuple[str, str], list[tuple[str, int, int]]]:
    """By process and thread: name, begin and end of each complete event, in nanoseconds."""
    events = json.loads(content)["traceEvents"]
    names = {(e["name"], e["pid"], e["tid"]): e["args"].get("name") for e in events if e["ph"] == "M"}
    found: dict[tuple[str, str], list[tuple[str, int, int]]] = {}
    for event in events:
        if event["ph"] == "X":
            pid, tid = event["pid"], event["tid"]
            track = names["process_name", pid, 0], names["thread_name", pid, tid]
            begin, length = round(event["ts"] * 1000), round(event["dur"] * 1000)
            found.setdefault(track, []).append((event["name"], begin, begin + length))
    return found


def assert_nested(spans: Sequence[tuple[str, int, int]]) -> None:
    is_open: list[int] = []
    assert all(before[1] <= after[1] for before, after in pairwise(spans))
    for name, begin, end in spans:
        while is_open and is_open[-1] <= begin:
            is_open.pop()
        assert begin <= end and (not is_open or end <= is_open[-1]), name
        is_open.append(end)


def assert_valid_speedscope(content: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(content)
    for profile in document["profiles"]:
        is_open: list[int] = []
        last = profile["startValue"]
        for event in profile["events"]:
            assert last <= event["at"] <= profile["endValue"]
            last = event["at"]
            assert event["frame"] < len(document["shared"]["frames"])
            if event["type"] == "O":
                is_open.append(event["frame"])
            else:
                assert is_open.pop() == event["frame"]
        assert not is_open
    return document


def test_chrome_has_every_slice_as_measured_on_tracks_where_nothing_overlaps() -> None:
    tracks = chrome_tracks(to_chrome_trace(recording(process(7))))
    for spans in tracks.values():
        assert_nested(spans)
    by_name = {track: [span[0] for span in spans] for (_, track), spans in tracks.items()}
    assert {process for process, _ in tracks} == {"process 7"}
    assert by_name == {
        "process": ["process", "interpreter shutdown"],
        "start-up": ["starting Python", "import torch", "setting up this recording", "import torch._dynamo"],
        "compiling": [
            "compile [0/1] step",
            "bytecode_tracing",
            "GraphLowering.run",
            "GraphLowering.run",
            "frame [-/-] helper",
            "compile [0/1] backward of step",
        ],
        "compiling, in parallel": ["compile_file [0/1]"],
        "compiling, in parallel (2)": ["compile_file [0/1]"],
        "compiled graphs": ["graph 1 [0/1] call 1", "graph 1 [0/1] call 65"],
        "compiled graphs (2)": ["graph 1 [0/1] call 129", "graph 2 [0/1] call 1"],
        "backward graphs": ["backward of graph 1 [0/1] call 1"],
    }
    assert tracks["process 7", "compiling"][0] == ("compile [0/1] step", 100 * MS, 200 * MS)
    assert tracks["process 7", "compiled graphs"][1] == ("graph 1 [0/1] call 65", 250 * MS, 253 * MS)


def test_chrome_says_of_how_many_calls_a_slice_is_and_where() -> None:
    events = json.loads(to_chrome_trace(recording(process(7))))["traceEvents"]
    (call,) = (event for event in events if event["name"] == "graph 1 [0/1] call 65")
    assert call["args"] == {
        "call": 65,
        "sampled": "3 of 128 calls",
        "compile_id": "0/1",
        "place": "/home/user/train.py:7",
    }
    (outermost,) = (event for event in events if event["name"] == "compile [0/1] step")
    assert (outermost["args"]["phase"], outermost["args"]["compile_id"]) == ("dynamo", "0/1")


def test_chrome_tells_processes_apart_though_they_share_a_number_or_have_none() -> None:
    nameless = process(7)
    nameless.info = ProcessInfo()
    ranked = process(7)
    ranked.rank = 3
    tracks = chrome_tracks(to_chrome_trace(recording(process(7), ranked, nameless)))
    assert {process for process, _ in tracks} == {"process 7", "rank 3", "stream.log"}


def test_chrome_has_marks_on_a_track_that_lasts_to_the_end_of_the_program() -> None:
    marked = process(7)
    where = (StackFrame(PLACE, "step", "if x.sum() > 0:"),)
    marked.breaks = [
        GraphBreak("generic_jump", where, ID, at_ns=at(130)),
        GraphBreak("met at an unknown time", where, ID),
    ]
    marked.interventions.freeze = FreezeNoted(frozen=True, calls=100, seconds=None, at_ns=at(400))
    reasons = ("0/1: tensor 'x' size mismatch at index 0. expected 16, actual 7",)
    marked.interventions.not_compiled = [NotCompiled("step", PLACE, reasons, (), 3, at(410))]
    whole = replace(recording(marked), run=replace(Run(program="train"), started_ns=at(0), ended_ns=at(1000)))
    events = json.loads(to_chrome_trace(whole))["traceEvents"]
    marks = [(event["name"], event["ts"], event["args"]) for event in events if event["ph"] == "i"]
    assert marks == [
        ("graph break: generic_jump", 130e3, {"compile": "[0/1]", "place": "/home/user/train.py:7"}),
        ("freeze: nothing is compiled from here on", 400e3, {}),
        ("not compiled: step", 410e3, {"times": 3, "place": "/home/user/train.py:7", "reason": reasons[0]}),
    ]
    (life,) = (event for event in events if event["name"] == "process")
    assert (life["ts"], life["dur"]) == (0, 990e3)
    assert {event["args"]["labels"] for event in events if event["name"] == "process_labels"} == {"train"}


def test_speedscope_is_valid_and_a_graphs_calls_are_one_function() -> None:
    document = assert_valid_speedscope(to_speedscope(recording(process(7))))
    jsonschema_rs.validate(SPEEDSCOPE, document)
    frames = document["shared"]["frames"]
    assert frames.count({"name": "graph 1 [0/1]", "file": PLACE.file, "line": PLACE.line}) == 1
    active = document["profiles"][document["activeProfileIndex"]]
    assert active["name"] == "process 7: compiling"
    assert active["events"][0]["at"] == 100 * MS


def test_a_selected_part_has_no_start_up() -> None:
    part = select(recording(process(7)), Selection(graph=2))
    assert "start-up" not in {track for _, track in chrome_tracks(to_chrome_trace(part))}


def test_what_was_cut_off_ends_with_what_is_known() -> None:
    killed = process(7)
    killed.runtime.end = None
    killed.phases = [phase("dynamo", 100, None, phase("backend_compile", 110, None))]
    (outermost, inner) = (
        event
        for event in json.loads(to_chrome_trace(recording(killed)))["traceEvents"]
        if event.get("args", {}).get("end") == "not recorded"
    )
    assert (outermost["dur"], inner["dur"]) == (10_000.0, 0.0)


_MOMENTS = st.integers(0, 40).map(at) | st.sampled_from([0, -(2**63) + 1, 2**63 - 1])
_IDS = st.sampled_from([ID, CompileId(0, 2), None])
_NAMES = st.sampled_from(["dynamo", "backend_compile", "x"])
_PHASES = st.recursive(
    st.builds(Phase, _NAMES, _MOMENTS, _MOMENTS | st.none(), _IDS),
    lambda inner: st.builds(
        Phase, _NAMES, _MOMENTS, _MOMENTS | st.none(), _IDS, children=st.lists(inner, max_size=2).map(tuple)
    ),
    max_leaves=4,
)
_SAMPLES = st.lists(st.builds(CallSample, st.integers(0, 9), _MOMENTS, st.floats(-1, 1e9)), max_size=6).map(
    tuple
)
_TIMES = st.builds(
    CallTimes, st.integers(0, 9), st.floats(0, 1e9), st.just({}), _SAMPLES, _SAMPLES, st.none()
)
_PROCESSES = st.builds(
    Process,
    st.just(Path("stream.log")),
    info=st.builds(ProcessInfo) | st.builds(ProcessInfo, pid=st.integers(1, 2), began_ns=_MOMENTS),
    phases=st.lists(_PHASES, max_size=4),
    parallel_phases=st.lists(_PHASES, max_size=4),
    graphs=st.lists(st.builds(graph, st.integers(1, 3), _TIMES | st.none(), _TIMES | st.none()), max_size=3),
    runtime=st.builds(
        Runtime,
        inherited=st.lists(_TIMES, max_size=1),
        imports=st.lists(
            st.builds(Import, module=st.just("m"), began_ns=_MOMENTS, ended_ns=_MOMENTS), max_size=2
        ),
        timeline=st.none()
        | st.builds(
            Timeline, armed_ns=_MOMENTS, torch_began_ns=_MOMENTS, torch_ended_ns=_MOMENTS, ready_ns=_MOMENTS
        ),
        end=st.none() | st.builds(ProcessEnd, ended_ns=_MOMENTS),
        overlap_seconds=st.none() | st.floats(0, 10),
        compiling_in_calls_seconds=st.none() | st.floats(0, 10),
    ),
)


@settings(max_examples=50, deadline=None, phases=[HypothesisPhase.generate])
@given(st.lists(_PROCESSES, max_size=3))
def test_every_recording_gives_valid_files(processes: list[Process]) -> None:
    anything = recording(*processes)
    assert_valid_speedscope(to_speedscope(anything))
    events = json.loads(to_chrome_trace(anything))["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert all(math.isfinite(event["ts"]) and event["ts"] >= 0 and event["dur"] >= 0 for event in spans)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6), max_size=6))
def test_no_two_slices_of_a_track_overlap_but_parts_of_one(spans: list[list[tuple[int, int]]]) -> None:
    blocks = [
        [Slice(str(number), *sorted(span), function="f") for span in block]  # type: ignore[arg-type, misc]
        for number, block in enumerate(spans)
    ]
    tracks = lay_out("t", blocks)
    for track in tracks:
        assert_nested([("x", slice_.begin_ns, slice_.end_ns) for slice_ in track.slices])
        for one in track.slices:
            for other in track.slices:
                if one.begin_ns < other.begin_ns < one.end_ns:
                    assert one.name == other.name
    assert sum(len(track.slices) for track in tracks) == sum(map(len, spans))


def test_kernels_of_the_window_are_on_tracks_of_their_device(tmp_path: Path) -> None:
    begin, base = at(400), BEGIN - 123_456_789
    us = (begin - base) / 1000
    host = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": us, "dur": 90.5}
    inner = host | {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": us + 10, "dur": 5}
    kernel = host | {"cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": us + 100, "dur": 250}
    wrong = [
        {"ph": "X"},
        host | {"ts": "x"},
        host | {"dur": -1},
        host | {"ts": 1e400},
        kernel | {"pid": None, "ts": []},
    ]
    names = {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7"}}
    trace = {"baseTimeNanoseconds": base, "traceEvents": [names, host, inner, kernel, *wrong]}
    window = ProfileWindow(1, 1, 0.1, begin, at(500), 0, (), (), (), None, 0, None)
    profiled = process(7, profiling=Profiling(window=window))
    profiled.stream = tmp_path / "stream.log"
    file = tmp_path / f"dynamo_profile_7_times_{begin}.json.gz"
    file.write_bytes(gzip.compress(json.dumps(trace).encode()))
    tracks = chrome_tracks(to_chrome_trace(recording(profiled)))
    assert tracks["process 7", "profiled: device 0, stream 7"] == [
        ("gemm", 400 * MS + 100_000, 400 * MS + 350_000)
    ]
    on_host = tracks["process 7", "profiled: thread 7"]
    assert [name for name, _, _ in on_host] == ["aten::mm", "cudaLaunchKernel"]
    assert_nested(on_host)
    file.write_bytes(b"not gzip")
    assert len(chrome_tracks(to_chrome_trace(recording(profiled)))) == len(tracks) - 2
