"""A Python with torch in it, which forks to be `python ARGUMENTS` again and again.

    python forking_python.py MODULE… < requests > answers

A request is a line of JSON: {"arguments": […], "environment": {…}, "cwd": …, "stdin": FILE, "stdout": FILE,
"stderr": FILE}. The answer is a line with the exit code as subprocess has it. Importing torch and its
compiler takes longer than all that such a program does. Only how a process starts is replaced: it is not a
new Python but a copy of this one, which executes a `sitecustomize` as Python does at its start. Where
`python -m dynamo_cli` starts a program, that is another copy.
"""

import contextlib
import gc
import importlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import types
import weakref
from collections.abc import Mapping, Sequence
from typing import IO, Any, NoReturn

import torch_variables
from be_program import be_program

from dynamo_core.bench.autotune import workers
from dynamo_core.launch import checks, process

_SECONDS = 300
_PATH = tuple(sys.path[1:])
_spawn = process._spawn
_forking = types.ModuleType("subprocess")


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
    _leave_out_finalizers()
    environment = dict(environment)
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
        process.subprocess = workers.subprocess = checks.subprocess = _forking  # type: ignore[attr-defined]
    else:
        torch_variables.read_now_and_at_import()
        _execute_sitecustomize()
    be_program(arguments)


def _leave_out_finalizers() -> None:
    """What is to be done at the end of this process is not for its copies.

    They would remove the temporary folders of the command that started them, and take down torch's operators
    one by one.
    """
    for finalizer in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        finalizer.atexit = False


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
    """What is used of a subprocess.Popen."""

    def __init__(self, pid: int, outputs: Sequence["IO[bytes] | None"]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._outputs = outputs

    def poll(self) -> int | None:
        """Its return code; None while it runs."""
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if ended else None
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its return code."""
        limit = _SECONDS if timeout is None else timeout
        deadline = time.monotonic() + limit
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired([], limit)
            time.sleep(0.002)
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What it has written, once it has ended."""
        self.wait(timeout)
        written = []
        for file in self._outputs:
            assert file is not None, "not a pipe"
            file.seek(0)
            written.append(file.read().decode(errors="replace"))
        return written[0], written[1]


def _popen(
    command: Sequence[str],
    *,
    stdin: int,
    stdout: int,
    stderr: "int | IO[bytes]",
    start_new_session: bool,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    **others: Any,
) -> "_Forked | subprocess.Popen[bytes]":
    """Start a process with a session of its own: a copy of this one where it can be."""
    if not _can_be(others.get("executable", command[0]), command):
        streams: dict[str, Any] = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        return subprocess.Popen(
            command, env=env, cwd=cwd, start_new_session=start_new_session, **streams, **others
        )
    pipes = [
        tempfile.TemporaryFile() if each == subprocess.PIPE else None  # noqa: SIM115
        for each in (stdout, stderr)
    ]
    child = os.fork()
    if child == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor, wanted in enumerate((stdin, pipes[0] or stdout, pipes[1] or stderr)):
            number = wanted if isinstance(wanted, int) else wanted.fileno()
            os.dup2(null if number == subprocess.DEVNULL else number, descriptor)
        if cwd is not None:
            os.chdir(cwd)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _become(command[1:], os.environ if env is None else env)
    return _Forked(child, pipes)


def _ask_what_inductor_asks_once() -> None:
    """Each copy would hash torch's sources, try the processor, read C++ headers and make its patterns again.

    Source: torch/_inductor/codecache.py (torch_key, _precompile_header, CppPythonBindingsCodeCache),
    cpu_vec_isa.py (valid_vec_isa_list) and fx_passes/joint_graph.py and post_grad.py (lazy_init), 2.13; what
    another version lacks is left to its copies.
    """
    with contextlib.suppress(Exception):
        import torch
        from torch._inductor import codecache, cpu_vec_isa, decomposition
        from torch._inductor.fx_passes import joint_graph, post_grad

        if torch.version.cuda is None:  # with it, a backward of 2.15's patterns starts threads of autograd
            joint_graph.lazy_init(torch.device("cpu"))
            post_grad.lazy_init()
            decomposition.fast_random_decomps.cache_clear()  # a program may register one of its own

        codecache.torch_key()
        cpu_vec_isa.valid_vec_isa_list()
        for number, options in enumerate(("", "at::vec::")):  # kernels with and without vectors
            source = f'extern "C" void kernel(int* {"x" * (number + 1)}) {{}}  // {options}'
            codecache.CppPythonBindingsCodeCache.load_pybinding(["int*"], source)


def _do_not_time_guards() -> None:
    """torch empties the processor's cache to time each frame's guards once: a twentieth of a copy's time.

    Source: torch/_dynamo/guards.py (CheckFunctionManager), 2.13. Only its metric `guard_latency_us` is of it,
    which counts the frames instead.
    """
    from torch._dynamo import guards

    frames = itertools.count(1)
    if hasattr(guards, "profile_guard_manager"):
        guards.profile_guard_manager = lambda *_: float(next(frames))


_forking.__dict__.update(subprocess.__dict__, Popen=_popen)
for _module in sys.argv[1:]:
    with contextlib.suppress(ModuleNotFoundError):  # another version of torch has others
        importlib.import_module(_module)
_ask_what_inductor_asks_once()
_do_not_time_guards()
torch_variables.remember()
_leave_out_finalizers()
gc.collect()
gc.freeze()  # or each copy would write on, and so copy, all that this process has
_answer_requests()
