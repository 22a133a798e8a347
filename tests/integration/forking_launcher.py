"""Runs `dynamo run …` again and again; the program is forked from a process that has imported torch.

    python forking_launcher.py MODULE… < requests > answers

A request is a line of JSON: {"arguments": […], "environment": {…}, "cwd": …, "stdout": FILE, "stderr": FILE}.
The answer is a line with the exit code. Only how the program's process starts is replaced: it is not a new
Python but a copy of this one, which executes the engine's start-up file as Python does at its start.
Importing torch takes longer than all that such a program does.
"""

import atexit
import importlib
import json
import os
import runpy
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from dynamo_cli.main import main
from dynamo_core.launch import process
from dynamo_core.launch.environment import BOOTSTRAP_FOLDER

_TIME_LIMIT = 120


def _answer_requests() -> None:
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if child == 0:
            _launch(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _launch(request: dict[str, Any]) -> NoReturn:
    signal.alarm(_TIME_LIMIT)
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(request["stdout"], write), 1)
    os.dup2(os.open(request["stderr"], write), 2)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["dynamo", *request["arguments"]]
    process._spawn = _fork
    main()
    os._exit(0)


def _fork(
    executable: str, command: Sequence[str], environment: Mapping[str, str], mask: set[int], _: bool
) -> int:
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.environ.clear()
        os.environ.update(environment)
        sys.orig_argv = list(command)
        for name in [name for name in sys.modules if name.partition(".")[0].startswith("dynamo_")]:
            del sys.modules[name]  # the engine loads its own, as in any process
        sys.modules.pop("sitecustomize", None)
        sys.path.insert(0, str(BOOTSTRAP_FOLDER))
        try:
            import sitecustomize  # noqa: F401
        except ImportError:
            pass
        _be(command[1:])
    return child


def _be(program: Sequence[str]) -> NoReturn:
    """Run the program and end as Python does, but for taking modules down."""
    sys.argv = list(program)
    sys.path[0] = os.path.dirname(program[0])
    exit_code = 0
    try:
        runpy.run_path(program[0], run_name="__main__")
    except SystemExit as end:
        exit_code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        exit_code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)


for _module in sys.argv[1:]:
    importlib.import_module(_module)
_answer_requests()
