"""Whatever ends a program, its recording reads, says that it is partial, and has all that came before."""

import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.capture.process_records import process_at_start
from dynamo_core.capture.writing.call_counters import CallCounters
from dynamo_core.capture.writing.stream import Stream
from dynamo_core.recording.calls import parse_calls
from dynamo_core.recording.trace_format import RecordParser
from dynamo_core.shared.call_pages import LOST_RECORDS
from dynamo_core.shared.early_records import ProbeFailed, ProcessInfo
from support.answering import Result
from support.cases import nightly

PROGRAM = """
import torch
torch.manual_seed(0)
for size in range(2, 500):
    def work(x, size=size):
        for _ in range(10):
            x = x.sin() + size
        return x
    torch.compile(work, backend="eager", dynamic=False)(torch.ones(size))
    torch._dynamo.reset()
"""


@pytest.mark.parametrize("delay", [0.3, 2.2, 3.1, 4.3])
def test_kill_9_of_the_program_and_the_tool(
    delay: float, environment: dict[str, str], run: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "dynamo_cli", "run", "-o", "rec", "program.py"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, start_new_session=True, stderr=subprocess.DEVNULL
    )
    wait_for(tmp_path / "rec" / "dynamo_run.json")
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    document = json.loads(run("explain", "--format", "json", "rec").stdout)
    assert document["is_partial"] is True
    for recorded in document["processes"]:
        assert recorded["damaged_records"] <= 1  # the record that was being written
        compiled = [graph for graph in recorded["graphs"] if graph["compiled"]]
        assert all(graph["calls"] == 1 for graph in compiled[:-1])
    assert "partial" in run("explain", "--all", "rec").stdout


def wait_for(path: Path) -> None:
    for _ in range(200):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear")


def test_a_full_disk_leaves_the_program_alone(run: Callable[..., Result], tmp_path: Path) -> None:
    """A limit on the size of files has the effect of a full disk, and needs no disk of its own."""
    (tmp_path / "program.py").write_text(PROGRAM.replace("500", "20") + "print('done')\n")
    result = run("run", "-o", "rec", "--", "sh", "-c", f"ulimit -f 200; {sys.executable} program.py")
    assert (result.exit_code, result.stdout) == (0, "done\n")
    assert "records could not be written" in result.stderr
    assert "Traceback" not in result.stderr


WRITES_TOO_MUCH = f"""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (90_000, 90_000))
{PROGRAM.replace("500", "20")}
print("done", flush=True)
open("own", "wb").write(bytes(100_000))
"""


@nightly
def test_the_limit_on_files_ends_the_program_only_for_its_own(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(WRITES_TOO_MUCH)
    result = run("run", "-o", "rec", "program.py")
    assert (result.exit_code, result.stdout) == (-signal.SIGXFSZ, "done\n")
    assert "records could not be written" in result.stderr


def test_a_cut_record_costs_itself_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    space = [1000, 100, 0]  # for a record; for a part of one; for nothing

    def write(file: int, data: bytes) -> int:
        room = space.pop(0) if space else len(data)
        if not room:
            raise OSError(errno.ENOSPC, "full")
        return os.write(file, data[:room])

    monkeypatch.setattr("dynamo_core.capture.writing.stream.write", write)
    stream = Stream(str(tmp_path), process_at_start())
    for probe in ("cut", "whole", "last"):
        stream.record(ProbeFailed(probe=probe, error="x" * 200))
    assert stream.counters.words[LOST_RECORDS] == 1
    (file,) = tmp_path.glob("*.log")
    parser = RecordParser()
    records = [*parser.feed(file.read_bytes()), parser.finish()]
    first, *others = [record for record in records if record]
    assert first.artifact_name == ProcessInfo.NAME
    assert [record.json_payload()["probe"] for record in others] == ["whole", "last"]
    assert parser.damaged == 1


def test_counters_cannot_be_truncated_while_they_count() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        child = os.fork()
        if not child:
            os._exit(truncate_own_counters(f"{folder}/counters"))
        assert os.waitpid(child, 0)[1] == 0


def truncate_own_counters(path: str) -> int:
    """As a user who may not do everything; 0 if that failed, and counting went on."""
    if os.getuid() == 0:
        os.setuid(65534)
    counters = CallCounters(lambda: None)
    counters.open_file(path)
    for page in range(20):  # more than are mapped at once
        assert counters.new_page() == page
        counters.counted(lambda: None, page)()
        try:
            os.truncate(path, 0)
            return 1
        except PermissionError:
            pass
    calls = parse_calls(Path(path).read_bytes())
    assert calls is not None
    return sum(page.calls for page in calls.callables) - 20


def test_what_a_process_without_counters_lacks(forked: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.replace("500", "4"))
    forked("run", "-q", "-o", "rec", "program.py")
    (counters,) = (tmp_path / "rec").glob("*.bin")
    lacks = "no calls of graphs, and no count of records that could not be written"
    assert lacks not in forked("explain", "--all", "rec").stdout
    os.truncate(counters, 100)
    assert f"{lacks} (its counters file {counters.name} is damaged)" in one_line(
        forked("explain", "--all", "rec").stdout
    )
    counters.unlink()
    (stream,) = (tmp_path / "rec").glob("*.log")
    stream.write_bytes(
        b"".join(stream.read_bytes().splitlines(keepends=True)[2:])
    )  # without the first record
    report = one_line(forked("explain", "--all", "rec").stdout)
    assert f"{lacks} (its counters file {counters.name} cannot be read)" in report
    assert "its first record (versions, environment) is missing" in report


def one_line(text: str) -> str:
    return " ".join(text.split())


@nightly
def test_a_recording_removed_meanwhile_leaves_the_program_alone(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    remove = "import shutil; shutil.rmtree('rec')\n"
    (tmp_path / "program.py").write_text(remove + PROGRAM.replace("500", "5") + "print('done')\n")
    result = run("run", "-q", "-o", "rec", "program.py")
    assert result == Result(0, "done\n", "")
    (tmp_path / "late.py").write_text(
        PROGRAM.replace("500", "5") + remove + PROGRAM.replace("500", "5") + "print('done')\n"
    )
    result = run("run", "-o", "rec", "late.py")
    assert (result.exit_code, result.stdout) == (0, "done\n")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("damage", "exit_code"),
    [
        (lambda path: path.write_text("{"), 122),
        (lambda path: path.write_text("[]"), 121),
        (lambda path: path.write_text('{"format": "dynamo-recording", "version": 99}'), 121),
        (lambda path: path.write_bytes(b"\xff\xfe\x00"), 122),
    ],
)
def test_a_damaged_run_file_is_one_line(
    damage: Callable[[Path], Any], exit_code: int, run: Callable[..., Result], tmp_path: Path
) -> None:
    run("run", "-q", "-o", "rec", "-c", "pass")
    damage(tmp_path / "rec" / "dynamo_run.json")
    result = run("explain", "--all", "rec")
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert result.stderr.startswith("dynamo: ")
    assert result.stderr.count("\n") == 1


def test_a_damaged_stream_is_read_as_far_as_it_goes(
    forked: Callable[..., Result], explained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.replace("500", "6"))
    forked("run", "-q", "-o", "rec", "program.py")
    (stream,) = (tmp_path / "rec").glob("*.log")
    whole = stream.read_bytes()
    stream.write_bytes(whole.replace(b'"graph": 2, "name"', b'"graph": 2, "nane"'))
    damaged = explained("rec")
    assert damaged["summary"]["graphs"] == 3
    assert "damaged records were skipped" in " ".join(damaged["problems"])
    stream.write_bytes(b"\x00\xff" * 1000)
    assert forked("explain", str(stream)).exit_code == 121
    stream.write_bytes(whole[:60])
    assert forked("explain", str(stream)).exit_code == 122
