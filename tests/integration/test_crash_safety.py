"""Whatever ends a program, its recording reads, says that it is partial, and has all that came before."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Result

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
    assert "partial" in run("explain", "rec").stdout


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
    result = run("explain", "rec")
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert result.stderr.startswith("dynamo: ")
    assert result.stderr.count("\n") == 1


def test_a_damaged_stream_is_read_as_far_as_it_goes(
    run: Callable[..., Result], explained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.replace("500", "6"))
    run("run", "-q", "-o", "rec", "program.py")
    (stream,) = (tmp_path / "rec").glob("*.log")
    whole = stream.read_bytes()
    stream.write_bytes(whole.replace(b'"graph": 2, "name"', b'"graph": 2, "nane"'))
    damaged = explained("rec")
    assert damaged["summary"]["graphs"] == 3
    assert "damaged records were skipped" in " ".join(damaged["problems"])
    stream.write_bytes(b"\x00\xff" * 1000)
    assert run("explain", str(stream)).exit_code == 121
    stream.write_bytes(whole[:60])
    assert run("explain", str(stream)).exit_code == 122
