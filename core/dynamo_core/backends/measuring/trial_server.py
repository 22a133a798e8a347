"""The process that runs texts of programs, each in a fork of itself, which has imported torch already.

    {"do": "hello"}                        the versions of Python and torch
    {"do": "describe"}                     the machine, in torch's words
    {"do": "run", text, plain, limit}      run a program; `plain` leaves torch.compile without effect

A program that crashes or hangs ends its fork alone. The answer has the end of what it printed (`output`), and
what it met of torch's reasons for graph breaks and recompiles.
"""

import ctypes
import importlib
import json
import logging
import os
import platform
import signal
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn

from ...shared.text import by_its_name
from ...shared.timing import scheduled_ns

_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG in linux/prctl.h
_LONGEST = 20_000  # characters of the output and of an error's text
_LOOK_EVERY = 0.005  # seconds
MOST_LIMITS = 4  # after so many times its limit a program is ended, however long it waited for a processor
# What torch imports at the first compile, for which each fork would wait.
_AT_A_COMPILE = (
    *("torch._dynamo", "torch._dynamo.convert_frame", "torch._dynamo.backends.debugging"),
    *("torch._dynamo.repro.after_dynamo", "torch._dynamo.backends.inductor"),
    *("torch._functorch.aot_autograd", "torch._inductor.compile_fx", "torch.fx.experimental.symbolic_shapes"),
)


def main(requests: int, answers: int, folder: str) -> None:
    """Serve the file descriptors until the first is closed; programs are written to `folder`."""
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when this ends
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # a fork has no pool of processes
    # Code that the user's cache has kept may be of an operator's kernel as it was before.
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(Path(folder, "cache"))
    # A process that asks for a GPU otherwise has forks that cannot use it (torch/cuda/__init__.py).
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    with os.fdopen(requests) as lines, os.fdopen(answers, "w") as out:
        for line in lines:
            request = json.loads(line)
            do = request.pop("do")
            answer = _run(folder=folder, **request) if do == "run" else _ANSWERS[do]()
            out.write(json.dumps(answer) + "\n")
            out.flush()


def _hello() -> dict[str, Any]:
    import torch

    for name in _AT_A_COMPILE:
        with suppress(ImportError):
            importlib.import_module(name)
    torch.set_num_threads(1)  # threads of the parent's would be missing in its forks
    torch._logging.set_logs(recompiles=True, graph_breaks=True)
    return {"torch": str(torch.__version__), "python": platform.python_version()}


def _describe() -> dict[str, Any]:
    """`machine` is what PyTorch's form for issues asks; None where torch cannot tell."""
    try:
        from torch.utils.collect_env import get_pretty_env_info

        return {"machine": str(get_pretty_env_info())}
    except Exception:
        return {"machine": None}


_ANSWERS = {"hello": _hello, "describe": _describe}


def _run(text: str, plain: bool, limit: float, folder: str) -> dict[str, Any]:
    """How the program ended: `passed`, `raised` (type, message, where), `exited`, `signal` or `hang`."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=folder) as own:
        child = os.fork()
        if child == 0:
            _be_program(Path(own), text, plain)
        status = _waited_for(child, limit)
        with suppress(OSError, ValueError):
            answer = json.loads((Path(own) / "answer").read_text(encoding="utf-8"))
            return {**answer, "seconds": time.monotonic() - began}
    seconds = time.monotonic() - began
    if status is None:
        return {"ending": "hang", "message": f"it did not end within {limit:g} s", "seconds": seconds}
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return {"ending": "signal", "message": name, "seconds": seconds}
    return {"ending": "exited", "message": str(code), "seconds": seconds}


def _waited_for(child: int, limit: float) -> int | None:
    """The child's status; None where it had to be killed after `limit` seconds.

    The time that it waited for a processor does not count: a busy machine is no hang.
    """
    began = time.monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        seconds = time.monotonic() - began
        if seconds > limit and (seconds > MOST_LIMITS * limit or seconds - _seconds_delayed(child) > limit):
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(_LOOK_EVERY)


def _seconds_delayed(process: int) -> float:
    """How long the main thread of a process waited for a processor; 0.0 where the system does not say."""
    try:
        counts = scheduled_ns(f"/proc/{process}")
    except (OSError, ValueError):
        counts = None
    return 0.0 if counts is None else counts[1] / 1e9


def _be_program(folder: Path, text: str, plain: bool) -> NoReturn:
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    file = folder / "repro.py"
    file.write_text(text, encoding="utf-8")
    sys.argv = [str(file)]
    output = StringIO()
    with redirect_stdout(output), redirect_stderr(StringIO()):
        answer = _ending(text, file, plain)
    answer["output"] = output.getvalue()[-_LONGEST:]
    part = folder / "part"
    part.write_text(json.dumps(answer), encoding="utf-8")
    part.rename(folder / "answer")
    os._exit(0)


def _ending(text: str, file: Path, plain: bool) -> dict[str, Any]:
    import torch

    if plain:
        os.environ["TORCHDYNAMO_DISABLE"] = "1"
    torch.seed()  # as in a process of its own: forks would draw the same numbers
    names = sys.modules["__main__"].__dict__
    for name in [name for name in names if not name.startswith("__")]:
        del names[name]
    names["__file__"] = str(file)
    breaks, recompiles = _Messages(), _Messages()
    logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks").addHandler(breaks)
    logging.getLogger("torch._dynamo.guards.__recompiles").addHandler(recompiles)
    answer: dict[str, Any] = {"ending": "passed"}
    try:
        exec(compile(text, str(file), "exec"), names)
    except SystemExit as error:
        if error.code not in (None, 0):
            answer = {"ending": "exited", "message": str(error.code)}
    except BaseException as error:
        answer = {
            "ending": "raised",
            "type": type(error).__name__,
            "message": by_its_name(_text_of(error), file.name),
            "where": _innermost_file(error),
        }
    return {**answer, "breaks": breaks.found, "recompiles": recompiles.found}


class _Messages(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message."""
        self.found.append(record.getMessage())


def _text_of(error: BaseException) -> str:
    try:
        return str(error)[:_LONGEST]
    except Exception:  # exceptions can have any `__str__`
        return ""


def _innermost_file(error: BaseException) -> str:
    """The file in which the error, or what it was made of, was raised; of torch, from `torch/` on."""
    while error.__cause__ is not None:
        error = error.__cause__
    traceback, file = error.__traceback__, ""
    while traceback is not None:
        file, traceback = traceback.tb_frame.f_code.co_filename, traceback.tb_next
    _, torch, rest = file.rpartition("/torch/")
    return f"torch/{rest}" if torch else file
