"""Run a program under plain python and under `dynamo run`, in the same surroundings, and compare."""

import ast
import contextlib
import difflib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import IO

from dynamo_core.shared.names import ENGINE_FAILURE_PREFIX, FX_GRAPH, PROBE_FAILED, RUN_FILE, STREAM_PREFIX

PROGRAMS = Path(__file__).resolve().parent / "programs"
_TIME_LIMIT = 120
# What no two processes share: addresses, process ids in warnings, and the head of torch's log lines.
_DIFFERS_EVERY_TIME = (
    (re.compile(r"0x[0-9a-f]{6,}"), "0x…"),
    (re.compile(r"\(pid=\d+\)"), "(pid=…)"),
    # From Python 3.12 on, of a fork amid threads: one that has just ended may be counted, or not.
    (re.compile(r"^.*This process \(pid=…\) is multi-threaded.*\n.*\n", re.MULTILINE), ""),
    (re.compile(r"^(\[\w+\]:)?([VIWE])\d{4} [\d:.]+ \d+ ", re.MULTILINE), r"\1\2… "),
)

Disturbance = Callable[["subprocess.Popen[bytes]"], None]


@dataclass(frozen=True)
class Situation:
    """A program, how it is started, and what happens to it from outside."""

    name: str
    program: tuple[str, ...]  # what follows `python`, or `--` and a whole command
    cwd: Path = PROGRAMS
    options: tuple[str, ...] = ()  # of `dynamo run`
    environment: Mapping[str, str] = field(default_factory=dict)
    python: str | None = None  # instead of the one that runs the tests
    stdin: bytes = b""
    stdout: str | None = None  # a file instead of one of ours; "closed pipe" for one that nobody reads
    shell: str | None = None  # a line of sh that ends in `"$@"`, which stands for the command
    disturbance: Disturbance | None = None  # done to the started process once it has printed "ready"
    new_session: bool = False
    before: Callable[[], None] | None = None  # done before each run
    is_torch: bool = True  # what the program imports by that name
    graphs: int | None = None  # how many the recording must hold


@dataclass(frozen=True)
class Outcome:
    """What anyone who runs a program can see of it. A negative exit code is the signal it died of."""

    exit_code: int
    stdout: str
    stderr: str


def situations_of(file: str) -> list[str]:
    """The public top-level functions of a program that takes the name of one as its argument."""
    tree = ast.parse((PROGRAMS / file).read_text(encoding="utf-8"))
    return [
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]


def send(number: signal.Signals) -> Disturbance:
    """Send a signal to the process that was started, and to no other."""
    return lambda process: os.kill(process.pid, number)


def send_to_group(number: signal.Signals) -> Disturbance:
    """Send a signal to the whole process group, as a shell's job control does."""
    return lambda process: os.killpg(process.pid, number)


def assert_same_as_python(situation: Situation, recording: Path) -> None:
    """Exit code, stdout and stderr are equal, and a recording exists that knows how the program ended."""
    plain, recorded = outcomes(situation, recording)
    assert_equal(plain, recorded)
    check_recording(recording, situation, plain.exit_code)


def outcomes(situation: Situation, recording: Path) -> tuple[Outcome, Outcome]:
    """The outcome under plain python, and the one under `dynamo run -q`."""
    program = list(situation.program)
    is_command = program[0] == "--"
    plain = program[1:] if is_command else [situation.python or sys.executable, *program]
    dynamo = [sys.executable, "-m", "dynamo_cli", "run", "-q", "-o", str(recording)]
    choose_python = ["--python", situation.python] if situation.python else []
    recorded = [*dynamo, *choose_python, *situation.options, *program]
    if situation.before is not None:  # it makes what the other run would trip over
        return _outcome(_start(plain, situation), situation), _outcome(_start(recorded, situation), situation)
    started = _start(plain, situation), _start(recorded, situation)
    return _outcome(started[0], situation), _outcome(started[1], situation)


def assert_equal(plain: Outcome, recorded: Outcome) -> None:
    """Fail with the lines that differ."""
    if recorded != plain:
        before, after = (
            f"exit code {o.exit_code}\n--- stdout\n{o.stdout}\n--- stderr\n{o.stderr}".splitlines()
            for o in (plain, recorded)
        )
        difference = difflib.unified_diff(before, after, "plain python", "dynamo run", lineterm="")
        raise AssertionError("\n".join(difference))


def check_recording(recording: Path, situation: Situation, exit_code: int) -> None:
    """The recording knows how the program ended, nothing failed in the engine, and it has the graphs."""
    run = json.loads((recording / RUN_FILE).read_text(encoding="utf-8"))
    ending = (None, -exit_code) if exit_code < 0 else (exit_code, None)
    assert (run["exit_code"], run["signal"]) == ending, f"recorded as {run['exit_code']}, {run['signal']}"
    problems = [file.read_text() for file in recording.glob(f"{ENGINE_FAILURE_PREFIX}*")]
    graphs = 0
    for stream in recording.glob(f"{STREAM_PREFIX}*"):
        lines = stream.read_text(encoding="utf-8").splitlines()
        graphs += sum(f'"name": "{FX_GRAPH}"' in line for line in lines)
        problems += [payload for head, payload in pairwise(lines) if f'"name": "{PROBE_FAILED}"' in head]
    assert not problems or not situation.is_torch, "\n".join(problems)
    assert situation.graphs in (None, graphs), f"{graphs} graphs recorded, {situation.graphs} expected"


@dataclass(frozen=True)
class _Started:
    process: "subprocess.Popen[bytes]"
    output: IO[bytes]
    errors: IO[bytes]


def _start(command: list[str], situation: Situation) -> _Started:
    if situation.before is not None:
        situation.before()
    if situation.shell is not None:
        command = [shutil.which("sh") or "sh", "-c", situation.shell, "sh", *command]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("DYNAMO_", "TORCH"))}
    own_folder = os.path.dirname(sys.executable)  # so that "python" is the one that runs these tests
    environment["OMP_NUM_THREADS"] = "1"  # two programs run at once
    environment["PATH"] = os.pathsep.join([own_folder, environment.get("PATH", os.defpath)])
    environment.update(situation.environment)
    output, errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
    with _input(situation) as stdin, _output(situation, output) as stdout:
        process = subprocess.Popen(
            command,
            cwd=situation.cwd,
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=errors,
            start_new_session=situation.new_session,
            preexec_fn=_settle_surroundings,
        )
    return _Started(process, output, errors)


def _outcome(started: _Started, situation: Situation) -> Outcome:
    process = started.process
    try:
        if situation.disturbance is not None:
            _wait_until_ready(process, started.output)
            situation.disturbance(process)
        exit_code = process.wait(_TIME_LIMIT)
    finally:
        process.kill()
        process.wait()
    with started.output, started.errors:
        errors = _OF_EACH_COMPILE.sub("", _FRAMES_OF_OURS.sub("", _text(started.errors)))
        return Outcome(exit_code, _text(started.output), errors)


# A documented difference: of tracebacks through compiled graphs that the program prints itself, or a thread.
_FRAMES_OF_OURS = re.compile(
    r'^ *File "[^"\n]*/dynamo_core/[^\n]*\n(?!^ *File )[^\n]*\n(?: *[\^~]+\n)?', re.MULTILINE
)
# Python 3.13.0 alone is told so where a frame is compiled, and of those a frozen program has fewer.
_OF_EACH_COMPILE = re.compile(
    r"^[^\n]*: Guards may run slower on Python [^\n]*\n *warnings\.warn\(\n", re.MULTILINE
)


def _settle_surroundings() -> None:
    """No core files; and signals end a program, even if these tests run in the background, by nohup."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def _input(situation: Situation) -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as stdin:
        stdin.write(situation.stdin)
        stdin.seek(0)
        yield stdin


@contextlib.contextmanager
def _output(situation: Situation, usual: IO[bytes]) -> Iterator[IO[bytes] | int]:
    if situation.stdout is None:
        yield usual
    elif situation.stdout == "closed pipe":
        read_end, write_end = os.pipe()
        os.close(read_end)
        yield write_end
        os.close(write_end)
    else:
        with open(situation.stdout, "wb") as file:
            yield file


def _wait_until_ready(process: "subprocess.Popen[bytes]", output: IO[bytes]) -> None:
    deadline = time.monotonic() + _TIME_LIMIT
    while b"ready\n" not in os.pread(output.fileno(), 1000, 0):
        assert process.poll() is None, "the program ended before it was ready"
        assert time.monotonic() < deadline, "the program was never ready"
        time.sleep(0.005)
    time.sleep(0.2)  # for it to have gone to sleep: a traceback shows where the signal found it


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    text = file.read().decode("utf-8", "backslashreplace")
    for pattern, replacement in _DIFFERS_EVERY_TIME:
        text = pattern.sub(replacement, text)
    return text
