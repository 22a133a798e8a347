"""A Python with torch in it, which forks to be `python ARGUMENTS` again and again.

    python forking_python.py MODULE… < requests > answers

A request is a line of JSON: {"arguments": […], "environment": {…}, "cwd": …, "stdin": FILE, "stdout": FILE,
"stderr": FILE}. The answer is a line with the exit code as subprocess has it. Importing torch and its
compiler takes longer than all that such a program does. Only how a process starts is replaced: it is not a
new Python but a copy of this one, which executes a `sitecustomize` as Python does at its start. Where
`python -m dynamo_cli` starts a program, that is another copy.
"""

import gc
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import torch_variables
from be_program import be_program

from dynamo_core.launch import process

_SECONDS = 300
_PATH = tuple(sys.path[1:])
_spawn = process._spawn
_start = process.Unattended._start


def _answer_requests() -> None:
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if child == 0:
            _begin(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _begin(request: dict[str, Any]) -> NoReturn:
    signal.alarm(_SECONDS)
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for descriptor, (name, how) in enumerate((("stdin", os.O_RDONLY), ("stdout", write), ("stderr", write))):
        os.dup2(os.open(request[name], how), descriptor)
    os.chdir(request["cwd"])
    _become(request["arguments"], request["environment"])


def _become(arguments: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    os.environ.clear()
    os.environ.update(environment)
    sys.orig_argv = [sys.executable, *arguments]
    inherited = [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:] = ["", *inherited, *_PATH]
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", 1 if "PYTHONUNBUFFERED" in environment else -1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    random.seed()
    if list(arguments[:2]) == ["-m", "dynamo_cli"]:
        process._spawn = _fork
        process.Unattended._start = _fork_unattended  # type: ignore[method-assign, assignment]
    else:
        torch_variables.read_now_and_at_import()
        _execute_sitecustomize()
    be_program(arguments)


def _execute_sitecustomize() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("dynamo_")]:
        del sys.modules[name]  # the engine loads its own, as in any process
    sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        pass


def _can_be(executable: str, command: Sequence[str]) -> bool:
    first = command[1] if len(command) > 1 else "-"
    return executable == sys.executable and (first in ("-c", "-m") or not first.startswith("-"))


def _fork(
    executable: str, command: Sequence[str], environment: Mapping[str, str], mask: set[int], to_stderr: bool
) -> int:
    if not _can_be(executable, command):
        return _spawn(executable, command, environment, mask, to_stderr)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if to_stderr:
            os.dup2(2, 1)
        _become(command[1:], environment)
    return child


class _Forked:
    """What Unattended uses of a subprocess.Popen."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def wait(self, seconds: float | None = None) -> int:
        """Its return code."""
        deadline = time.monotonic() + (_SECONDS if seconds is None else seconds)
        while True:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired([], seconds or _SECONDS)
            time.sleep(0.002)


def _fork_unattended(
    self: process.Unattended,
    executable: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    stdout: int,
    stderr: int,
) -> "_Forked | subprocess.Popen[bytes]":
    if not _can_be(executable, command):
        return _start(self, executable, command, environment, stdout, stderr)
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _become(command[1:], {**environment, **self.environment})
    return _Forked(child)


for _module in sys.argv[1:]:
    importlib.import_module(_module)
torch_variables.remember()
for _finalizer in list(weakref.finalize._registry):  # type: ignore[attr-defined]
    _finalizer.atexit = False  # torch's operators, which each copy would take down one by one at its end
gc.collect()
gc.freeze()  # or each copy would write on, and so copy, all that this process has
_answer_requests()
