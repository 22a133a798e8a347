"""Runs `dynamo run …` or `dynamo fix …` again and again; programs are forked from a Python with torch in it.

    python forking_launcher.py MODULE… < requests > answers

A request is a line of JSON: {"arguments": […], "environment": {…}, "cwd": …, "stdout": FILE, "stderr": FILE,
"seconds": the most that it may take}. The answer is a line with the exit code. Only how the program's
process starts is replaced: it is not a new Python but a copy of this one, which executes the engine's
start-up file as Python does at its start. Importing torch takes longer than all that such a program does.
"""

import atexit
import builtins
import importlib.util
import json
import os
import runpy
import signal
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from dynamo_cli.main import main
from dynamo_core.launch import process, unattended
from dynamo_core.launch.environment import BOOTSTRAP_FOLDER

_SECONDS = 120
# torch reads these of its variables when it is imported, which is over when a program is forked.
_READ_AT_IMPORT = ("torch.compiler.config", "torch._dynamo.config")


def _answer_requests() -> None:
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if child == 0:
            _launch(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _launch(request: dict[str, Any]) -> NoReturn:
    signal.alarm(request.get("seconds", _SECONDS))
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(request["stdout"], write), 1)
    os.dup2(os.open(request["stderr"], write), 2)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["dynamo", *request["arguments"]]
    process._spawn = _fork
    unattended.Unattended._start = _start  # type: ignore[method-assign]
    main()
    os._exit(0)


def _fork(
    executable: str, command: Sequence[str], environment: Mapping[str, str], mask: set[int], _: bool
) -> int:
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _become(command, environment)
    return child


class _Forked:
    """What Unattended uses of a subprocess.Popen."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def wait(self, seconds: float | None = None) -> int:
        """Its return code; what takes too long, the launcher's own alarm ends."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _start(
    self: unattended.Unattended,
    executable: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    stdout: int,
    stderr: int,
) -> _Forked:
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _become(command, {**environment, **self.environment})
    return _Forked(child)


def _become(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Be the program in this process."""
    try:
        was = _variables()
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
        _read_variables_at_import(was)
        _be(command[1:])
    except BaseException:
        traceback.print_exc()
    os._exit(70)


def _variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("TORCH")}


def _read_variables_at_import(was: Mapping[str, str]) -> None:
    """Look at them when the program imports torch: its lines above may have set some."""
    original = builtins.__import__

    def importing(name: str, into: Any = None, *arguments: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "torch" and into is not None and into["__name__"] == "__main__":
            builtins.__import__ = original
            if _variables() != was:
                _read_variables_anew()
        return original(name, into, *arguments, **named)

    builtins.__import__ = importing


def _read_variables_anew() -> None:
    """Give torch's settings the values that they would have, had it been imported with these variables."""
    for name in _READ_AT_IMPORT:
        known = importlib.import_module(name)
        spec = importlib.util.spec_from_file_location(f"{name}_anew", known.__file__ or "")
        assert spec is not None and spec.loader is not None
        anew = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = anew
        spec.loader.exec_module(anew)
        for setting, entry in anew._config.items():
            is_known = entry.alias is None and not entry.deprecated
            if is_known and getattr(anew, setting) != getattr(known, setting):
                setattr(known, setting, getattr(anew, setting))


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
