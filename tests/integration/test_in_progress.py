"""A program that is killed in the middle: what it was compiling or calling, and for how long."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dynamo_core.model import Place
from dynamo_core.recording.read import read
from support.answering import Result
from support.cases import nightly

BACKENDS = """
import time
def slow(gm, inputs):
    open("reached", "w").close()
    time.sleep({seconds})
    return gm.forward
def slow_to_call(gm, inputs):
    def call(*args):
        open("reached", "w").close()
        time.sleep(60)
        return gm.forward(*args)
    return call
"""
PROGRAM = "import torch\nprint(torch.nn.Linear(2, 2)(torch.ones(1, 2)).shape)\n"


@pytest.fixture
def start(environment: dict[str, str], tmp_path: Path) -> Callable[..., "subprocess.Popen[bytes]"]:
    """Start `dynamo run program.py` with a backend, and wait until that is reached."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def start_until_reached(backend: str, seconds: int = 60, **named: object) -> "subprocess.Popen[bytes]":
        (tmp_path / "backends.py").write_text(BACKENDS.format(seconds=seconds))
        command = [
            sys.executable,
            "-m",
            "dynamo_cli",
            "run",
            "-o",
            "rec",
            "--backend",
            f"backends.py:{backend}",
        ]
        process = subprocess.Popen(
            [*command, "program.py"], cwd=tmp_path, env=environment, start_new_session=True, **named
        )
        deadline = time.monotonic() + 120
        while not (tmp_path / "reached").exists():
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
        return process

    return start_until_reached


def test_killed_while_compiling(
    start: Callable[..., "subprocess.Popen[bytes]"], run: Callable[..., Result], tmp_path: Path
) -> None:
    process = start("slow", stderr=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    summary = process.communicate()[1].decode()
    assert process.returncode == -signal.SIGTERM
    for text in (summary, run("explain", "--all", "rec").stdout):
        assert "compiling forward at" in text
        assert "[0/0]: graph 1, 1 op, in backend " in text
        assert "backends.py:slow for 1." in text
        assert "No frame reached Dynamo" not in text
    assert "--capture none" in summary


WAITING = """
import os, queue, signal, sys, torch
torch.compile(torch.sin, backend="eager")(torch.ones(2))
begun, begin = os.pipe()
child = os.fork()
if child == 0:
    os.write(begin, b"!")
    signal.pause()
os.read(begun, 1)
if "child" in sys.argv:
    os.kill(child, signal.SIGTERM)
    print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
else:
    os.kill(child, signal.SIGKILL)
    open("reached", "w").close()
    queue.Queue().get()
"""


@nightly
def test_told_to_end_while_it_waits_in_a_call(environment: dict[str, str], tmp_path: Path) -> None:
    """As a rank does in a collective that another one never comes to."""
    (tmp_path / "program.py").write_text(WAITING)
    command = [sys.executable, "-m", "dynamo_cli", "run", "-o", "rec", "program.py"]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not (tmp_path / "reached").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    summary = process.communicate()[1].decode()
    assert process.returncode == -signal.SIGTERM
    line = f"program.py:{len(WAITING.splitlines())} in <module>"
    assert re.search(
        rf"not finished: Python was in wait \(\S+threading\.py:\d+\), called at {line}\n", summary
    )


@nightly
def test_a_signal_to_a_forked_child_is_not_its_parents(run: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(WAITING)
    ended = run("run", "-o", "rec", "program.py", "child")
    assert ended.stdout == f"child {-signal.SIGTERM}\n"
    assert "Python was" not in ended.stderr
    assert [*(tmp_path / "rec").glob("dynamo_stack_*")] == []


RAISING = """
import contextlib, torch
def broken():
    with contextlib.suppress(ValueError):
        try:
            raise ValueError
        finally:
            {}[torch.ones(1)]
broken()
"""


def test_the_exception_that_ended_a_program_is_recorded_with_its_line(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(RAISING)
    assert run("run", "-o", "rec", "program.py").exit_code == 1
    (process,) = read(tmp_path / "rec").processes
    assert process.runtime.end is not None
    assert (process.runtime.end.raised, process.runtime.end.raised_in) == ("KeyError", "broken")
    assert process.raised_at == Place(str(tmp_path / "program.py"), 8)
    (tmp_path / "program.py").write_text("import torch\ntry:\n    {}[1]\nexcept KeyError:\n    pass\n")
    assert run("run", "-o", "caught", "program.py").exit_code == 0
    (process,) = read(tmp_path / "caught").processes
    assert process.runtime.end is not None and process.runtime.end.raised is None


def test_interrupted_while_compiling(forked: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "backends.py").write_text("def stops(gm, inputs): raise KeyboardInterrupt\n")
    summary = forked("run", "--backend", "backends.py:stops", "program.py").stderr
    assert "compiling forward at" in summary
    assert "interrupted by KeyboardInterrupt" in summary
    assert "could not be compiled" not in summary


def test_killed_with_the_tool_inside_a_call(
    start: Callable[..., "subprocess.Popen[bytes]"], run: Callable[..., Result], tmp_path: Path
) -> None:
    process = start("slow_to_call", stderr=subprocess.DEVNULL)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    document = json.loads(run("explain", "--format", "json", "rec").stdout)
    (line,) = document["in_progress"]
    assert line.startswith("running graph 1 [0/0] of Linear.forward at ")
    assert " since " in line and "its first call" in line
    assert "never called" not in run("explain", "--all", "rec").stdout


def test_a_terminal_sees_what_is_compiled(
    start: Callable[..., "subprocess.Popen[bytes]"], environment: dict[str, str]
) -> None:
    ours, theirs = pty.openpty()
    environment.pop("CI", None)
    environment["TERM"] = "xterm"
    process = start("slow", 3, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=_take_terminal)
    os.close(theirs)
    seen = b""
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:  # Linux: nobody has the other end any more
            break
        if not data:
            break
        seen += data
    assert process.wait() == 0
    text = seen.decode()
    assert "dynamo: compiling for 1 s, 0 done: forward at" in text
    assert text.index("\x1b[r") > text.index("dynamo: compiling for 2 s"), "it was erased"
    assert text.rindex("\x1b[r") < text.index("dynamo: next:")


def test_a_pipe_sees_nothing_of_it(start: Callable[..., "subprocess.Popen[bytes]"]) -> None:
    errors = start("slow", 3, stderr=subprocess.PIPE).communicate()[1]
    assert b"compiling for" not in errors
    assert b"\x1b" not in errors


def _take_terminal() -> None:
    import fcntl
    import struct
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))


@pytest.mark.parametrize(
    ("statement", "is_blamed"), [("raise SystemExit(3)", False), ("f(torch.ones(0))", True)]
)
def test_only_what_failed_in_a_graph_is_put_down_to_capture(
    statement: str, is_blamed: bool, forked: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "backends.py").write_text(
        "def fails_late(gm, inputs):\n"
        "    def call(*args):\n"
        "        if not args[-1].numel(): raise RuntimeError('in the graph')\n"
        "        return gm.forward(*args)\n"
        "    return call\n"
    )
    (tmp_path / "program.py").write_text(
        f"import torch\ndef f(x): return x + 1\nf(torch.ones(3))\n{statement}\n"
    )
    result = forked("run", "--semantics", "compiled", "--backend", "backends.py:fails_late", "program.py")
    assert result.exit_code != 0
    assert ("It was compiled by dynamo" in result.stderr) == is_blamed, result.stderr
