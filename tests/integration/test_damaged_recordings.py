"""Whatever lies at a path, `dynamo explain` answers: a report that says what was skipped, or one line."""

import gzip
import hashlib
import json
import os
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.shared import names
from dynamo_core.shared.errors import DamagedRecording, NoRecording, NotARecording
from support.answering import Result, answer

STREAM = f"{names.STREAM_PREFIX}1{names.STREAM_SUFFIX}"
_TIME_LIMIT = 60  # seconds; a reader that opens a named pipe waits for ever
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
Explain = Callable[..., Result]


def record(head: dict[str, Any] | str, payload: str | None = None) -> bytes:
    """A record as torch writes it; a head that is text is taken as it is."""
    text = head if isinstance(head, str) else json.dumps(head)
    if payload is not None:
        digest = hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()
        text = text[:-1] + f', "has_payload": "{digest}"}}'
    lines = "" if payload is None else "".join(f"\n\t{line}" for line in payload.split("\n"))
    return f"V1120 19:08:30.938000 2350 torch/_dynamo/x.py:10] {text}{lines}\n".encode()


def metrics(**values: Any) -> dict[str, Any]:
    content = {"co_name": "f", "co_filename": "/x/train.py", "co_firstlineno": 7, "duration_us": 1_500_000}
    return {"compilation_metrics": content | values, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}


BREAK = record(
    {"artifact": {"name": "dynamo_graph_break_reason", "encoding": "string"}, "frame_id": 0, "attempt": 0},
    "Graph break in user code at /x/train.py:7\nGraph Break Reason: print\nUser code traceback:\n",
)
TRACE = (
    record({"str": ["/x/train.py", 0]})
    + record({"dynamo_start": {"stack": [{"line": 7, "name": "f", "filename": 0}]}, "frame_id": 0})
    + record({"chromium_event": {}, "frame_id": 0}, '{\n"name": "dynamo",\n"ph": "B"\n}')
    + BREAK
    + record({"dynamo_output_graph": {"sizes": {}}, "frame_id": 0}, "class GraphModule:\n    pass")
    + record(metrics(guard_count=3, graph_op_count=2))
)


@pytest.fixture
def explain(tmp_path: Path) -> Explain:
    """`explain(path)` runs `dynamo explain path` and checks what holds for every outcome."""

    def run(*arguments: str | Path) -> Result:
        signal.signal(signal.SIGALRM, _end_waiting)
        signal.alarm(_TIME_LIMIT)
        try:
            result = answer("explain", *arguments, cwd=tmp_path)
        finally:
            signal.alarm(0)
        assert not _OBEYED.search(result.stdout + result.stderr)
        assert "Traceback" not in result.stderr and "internal error" not in result.stderr
        if result.exit_code != 0:
            assert result.stdout == ""
            assert re.fullmatch(r"dynamo: .+\n", result.stderr), result.stderr
        return result

    return run


def _end_waiting(signal_number: int, frame: object) -> None:
    raise TimeoutError


def log(folder: Path, content: bytes, name: str = STREAM) -> Path:
    """A file with this content."""
    file = folder / name
    file.write_bytes(content)
    return file


def skipped(result: Result) -> int:
    """How many damaged records the report says it skipped."""
    assert result.exit_code == 0, result.stderr
    found = re.search(r"(\d+) damaged records?", " ".join(result.stdout.split()))
    return int(found[1]) if found else 0


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]


def test_a_whole_trace_has_nothing_skipped(explain: Explain, tmp_path: Path) -> None:
    result = explain(log(tmp_path, TRACE))
    assert skipped(result) == 0
    assert "1 graph" in result.stdout


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\n\n\n", "no record of a torch trace"),
        (b"step 1: loss 2.5\nstep 2: loss 2.4\n", "no record of a torch trace"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)), "no record of a torch trace"),
        (bytes(range(256)) * 100, "no record of a torch trace"),
        (b"\tV1120 19:08:30.938000 2350 x.py:1] {}\n", "no record of a torch trace"),
        (TRACE[:40], "not one record"),
        (b"V1120 19:08:30.938000 2350 torch/x.py:10] \x1b[31m{\n", "not one record"),
    ],
)
def test_what_is_no_trace_is_told_in_a_line(
    explain: Explain, tmp_path: Path, content: bytes, says: str
) -> None:
    result = explain(log(tmp_path, content))
    assert says in result.stderr
    error = DamagedRecording if says == "not one record" else NotARecording
    assert result.exit_code == error.exit_code


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_cut_trace_is_read_as_far_as_it_goes(explain: Explain, tmp_path: Path, share: float) -> None:
    assert skipped(explain(log(tmp_path, TRACE[: int(len(TRACE) * share)]))) == 1


@pytest.mark.parametrize("place", [b"V1120", b'"/x/train.py", 0', b"Graph Break Reason", b'"duration_us"'])
def test_a_flipped_byte_costs_one_record(explain: Explain, tmp_path: Path, place: bytes) -> None:
    assert skipped(explain(log(tmp_path, flipped(TRACE, TRACE.index(place))))) == 1


def test_a_wrong_checksum_is_damage(explain: Explain, tmp_path: Path) -> None:
    digest = re.search(rb'"has_payload": "(\w{32})"', BREAK)
    assert digest is not None
    assert skipped(explain(log(tmp_path, TRACE.replace(digest[1], b"0" * 32)))) == 1


def test_foreign_text_between_records_is_passed_over(explain: Explain, tmp_path: Path) -> None:
    result = explain(log(tmp_path, b"warming up\n" + TRACE + b"\x1b[1mKilled\x1b[0m\n\xff\xfe\n"))
    assert skipped(result) == 2
    assert "1 graph" in result.stdout


@pytest.mark.parametrize("depth", [600, 100_000])
def test_json_of_any_depth_is_damage(explain: Explain, tmp_path: Path, depth: int) -> None:
    deep = "[" * depth + "]" * depth
    artifact = {"artifact": {"name": names.FRAME, "encoding": "json"}}
    data = TRACE + record('{"str": ' + deep + "}") + record(artifact, deep)
    assert skipped(explain(log(tmp_path, data))) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        metrics(co_name=["f"]),
        metrics(co_name={"a": 1}),
        metrics(co_filename=3),
        metrics(co_firstlineno="seven"),
        metrics(duration_us="long"),
        metrics(duration_us=10**400),
        metrics(duration_us=float("nan")),
        metrics(guard_count=[1]),
        metrics(graph_op_count={"ops": 1}),
        metrics(recompile_reason=0),
        metrics(fail_type=[], fail_reason=7),
        metrics() | {"frame_id": [0]},
        metrics() | {"frame_id": {"a": "b"}, "frame_compile_id": "x"},
        {"compilation_metrics": []},
        {"str": 3},
        {"str": [["a"], {}]},
        {"dynamo_start": {"stack": 1}},
        {"dynamo_output_graph": {}, "frame_id": "0", "frame_compile_id": []},
    ],
    ids=lambda wrong: json.dumps(wrong)[:60],
)
def test_values_of_the_wrong_type_are_damage(explain: Explain, tmp_path: Path, wrong: dict[str, Any]) -> None:
    file = log(tmp_path, TRACE + record(wrong))
    assert skipped(explain(file)) == 1
    assert explain("--format", "json", file).exit_code == 0


NASTY = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egpj.exe\u2066\r\x7f\x00"


@pytest.mark.parametrize("form", ["text", "json"])
def test_control_characters_are_spelled_out(explain: Explain, tmp_path: Path, form: str) -> None:
    artifact = {"artifact": {"name": NASTY, "encoding": "string"}}
    reason = {"artifact": {"name": "dynamo_graph_break_reason", "encoding": "string"}, "frame_id": 1}
    graph = json.dumps({"graph": 1, "name": NASTY, "backend": NASTY, "ops": 1})[:-1] + ',\n"nodes": []}'
    start = {"argv": [NASTY], "torch": NASTY, "pid": NASTY, "calls_file": "../x"}
    data = (
        record({"artifact": {"name": names.PROCESS_START, "encoding": "json"}}, json.dumps(start))
        + record({"str": [f"/x/{NASTY}.py", 1]})
        + record({"dynamo_start": {"stack": [{"line": 7, "name": NASTY, "filename": 1}]}, "frame_id": 1})
        + record(metrics(co_name=NASTY, co_filename=NASTY, recompile_reason=NASTY, fail_reason=NASTY))
        + record(artifact, NASTY)
        + record(reason, f"Graph break in user code at /x/{NASTY}.py:7\nGraph Break Reason: {NASTY}\n")
        + record({"artifact": {"name": names.FX_GRAPH, "encoding": "json"}, "frame_id": 0}, graph)
        + record(
            {"artifact": {"name": names.GRAPH_COMPILED, "encoding": "json"}, "frame_id": 0},
            json.dumps(
                {"graph": 1, "name": NASTY, "specialization": False, "backend_ns": 1, "calls_index": 0}
            ),
        )
        + TRACE
    )
    result = explain("--format", form, log(tmp_path, data))
    assert result.exit_code == 0
    assert "\\x1b" in result.stdout


def test_a_packed_trace_reads_the_same(explain: Explain, tmp_path: Path) -> None:
    half = len(TRACE) // 2
    packed = gzip.compress(TRACE[:half]) + gzip.compress(TRACE[half:]) + b"\0" * 8
    assert skipped(explain(log(tmp_path, packed, STREAM + ".gz"))) == 0


def test_a_packed_trace_that_was_cut_is_read_as_far_as_it_goes(explain: Explain, tmp_path: Path) -> None:
    packed = gzip.compress(TRACE + os.urandom(3000).hex().encode())
    assert skipped(explain(log(tmp_path, packed[:-1000], STREAM + ".gz"))) >= 1


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        (b"no gzip at all", DamagedRecording, "not what gzip wrote"),
        (gzip.compress(TRACE, mtime=0)[:12], DamagedRecording, "ends before"),
        (gzip.compress(b"hello\n" * 100, mtime=0), NotARecording, "no record of a torch trace"),
        (gzip.compress(b"", mtime=0), NotARecording, "is empty"),
        (b"", NotARecording, "is empty"),
    ],
)
def test_a_packed_file_that_is_no_trace_is_told(
    explain: Explain, tmp_path: Path, content: bytes, error: type[NotARecording], says: str
) -> None:
    result = explain(log(tmp_path, content, "trace.log.gz"))
    assert (result.exit_code, says in result.stderr) == (error.exit_code, True), result.stderr


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    before = os.getcwd()
    with socket.socket(socket.AF_UNIX) as unix:
        os.chdir(path.parent)  # the path of a socket is at most 108 bytes long
        try:
            unix.bind(path.name)
        finally:
            os.chdir(before)


def make_link_to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [make_pipe, make_socket, make_link_to_device])
@pytest.mark.parametrize("where", ["target", "in the folder", "beside a good stream"])
def test_what_is_no_plain_file_is_never_opened(
    explain: Explain,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], None],
    where: str,
) -> None:
    monkeypatch.chdir(tmp_path)  # make_socket changes it
    folder = tmp_path / "recording"
    folder.mkdir()
    make(folder / STREAM)
    if where == "beside a good stream":
        log(folder, TRACE, f"{names.STREAM_PREFIX}2{names.STREAM_SUFFIX}")
    result = explain(folder / STREAM if where == "target" else folder)
    assert result.exit_code == NotARecording.exit_code
    assert re.search("named pipe|socket|device", result.stderr)


@pytest.mark.parametrize("name", [names.RUN_FILE, names.PYTHON_PROCESSES_FILE, "dynamo_calls_1.bin", "x.log"])
def test_other_files_of_a_folder_may_be_pipes_too(explain: Explain, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "recording"
    folder.mkdir()
    os.mkfifo(folder / name)
    start = {"torch": "2.13.0", "calls_file": "dynamo_calls_1.bin"}
    process_start = record({"artifact": {"name": names.PROCESS_START, "encoding": "json"}}, json.dumps(start))
    log(folder, process_start + TRACE)
    expected = DamagedRecording.exit_code if name == names.RUN_FILE else 0
    assert explain(folder).exit_code == expected


def test_a_folder_of_logs_by_other_names_is_read(explain: Explain, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    log(folder, TRACE, "rank0.log")
    log(folder, gzip.compress(TRACE), "rank1.log.gz")
    log(folder, b"loss 2.5\n" * 1000, "train.log")
    log(folder, b"", "empty.log")
    os.mkfifo(folder / "pipe.log")
    result = explain(folder)
    assert skipped(result) == 0
    assert re.search(r"processes 2\b", result.stdout)


def test_a_folder_without_logs_is_no_recording(explain: Explain, tmp_path: Path) -> None:
    folder = tmp_path / "nothing"
    folder.mkdir()
    log(folder, b"loss 2.5\n", "train.log")
    log(folder, TRACE, "notes.txt")
    result = explain(folder)
    assert result.exit_code == NotARecording.exit_code
    assert "holds neither" in result.stderr


def test_what_is_not_there_is_no_recording(explain: Explain, tmp_path: Path) -> None:
    (tmp_path / STREAM).symlink_to(tmp_path / "gone")
    for path in (tmp_path / "gone.log", tmp_path / STREAM):
        assert explain(path).exit_code == NoRecording.exit_code
