"""Runs of a program in forks of one process that has imported torch, with torch's own counters of each."""

import contextlib
import json
import os
import re
import runpy
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch._dynamo
from torch._dynamo import utils

_TIME_LIMIT_S = 300
_METRICS_KEPT = 100_000
_STREAMS = ("stdout", "stderr")


@dataclass(frozen=True)
class Outcome:
    """How a run ended, what it wrote to stdout and stderr, and what torch counted in it."""

    exit_code: int
    output: str
    errors: str
    graphs: int = 0
    ops: int = 0
    graph_breaks: int = 0
    recompiles: int = 0


def run(folder: Path, arguments: Sequence[str], *, backend: str | None) -> Outcome:
    """Run `python ARGUMENTS` (a script, or -m and a module) in a folder, without torch.compile for None.

    `backend` takes the place of Inductor, where the program names none.
    """
    with tempfile.TemporaryDirectory() as scratch:
        written, counted = Path(scratch), Path(scratch, "counted")
        child = os.fork()
        if child == 0:
            _run_here(folder, arguments, backend, written, counted)
        _, status = os.waitpid(child, 0)
        texts = [(written / name).read_text(errors="replace") for name in _STREAMS]
        counts = json.loads(counted.read_text()) if counted.exists() else {}
        return Outcome(os.waitstatus_to_exitcode(status), *texts, **counts)


def _run_here(
    folder: Path, arguments: Sequence[str], backend: str | None, written: Path, counted: Path
) -> None:
    """Be the program, in this process; it ends here."""
    signal.alarm(_TIME_LIMIT_S)
    for number, name in enumerate(_STREAMS, start=1):
        os.dup2(os.open(written / name, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(folder)
    sys.path[0] = str(folder)
    sys.dont_write_bytecode = True
    utils.set_compilation_metrics_limit(_METRICS_KEPT)
    if backend is None:
        torch._dynamo.config.disable = True
    else:
        _replace_inductor(backend)
    code = _exit_code(arguments)
    counted.write_text(json.dumps(_counts()))
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _exit_code(arguments: Sequence[str]) -> int:
    first, *rest = arguments
    try:
        if first == "-m":
            sys.argv = list(rest)
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv = list(arguments)
            runpy.run_path(first, run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _replace_inductor(backend: str) -> None:
    compile_as_usual = torch.compile

    def compile_with(model: object = None, **named: object) -> object:
        if named.get("backend", "inductor") == "inductor":
            named = {**named, "backend": backend, "mode": None, "options": None}
        return compile_as_usual(model, **named)

    torch.compile = compile_with


def _counts() -> dict[str, int]:
    compiles = [str(each.compile_id) for each in utils.get_compilation_metrics() if each.compile_id]
    return {
        "graphs": utils.counters["stats"]["unique_graphs"],
        "ops": utils.counters["stats"]["calls_captured"],
        "graph_breaks": sum(utils.counters["graph_break"].values()),
        "recompiles": len({each for each in compiles if re.search(r"/[1-9]\d*$", each)}),
    }
