"""Run commands in turn (A B A B …) in one session, and compare what they cost pair by pair.

A machine slows down and speeds up by more than what is measured here. Two neighbouring runs meet it in the
same state, so the ratio of a pair says more than two averages do.
"""

import argparse
import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

PROGRAMS = Path(__file__).resolve().parent / "programs"
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
# Where containers set this, every start compiles our sources anew; those of an installed package never are.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@dataclass(frozen=True)
class Side:
    """One of the things that are compared. `prepare`, if given, runs before each run and is not measured."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Run:
    """What one run cost, its whole process tree together, and what it printed on stdout.

    `peak_mb` is of the largest process of the tree; one that is smaller than this benchmark reads as large.
    """

    cpu_s: float
    wall_s: float
    peak_mb: float
    stdout: str


def environment(side: Side) -> dict[str, str]:
    """The environment in which a side runs."""
    return os.environ | side.environment


Runs = Mapping[str, Sequence[Run]]


def recorded(program: Path, *arguments: str, recording: Path) -> list[str]:
    """The command that runs `program` under `dynamo run -q`, into a recording that it replaces."""
    run = [sys.executable, "-m", "dynamo_cli", "run", "-q", "-f", "-o", str(recording)]
    return [*run, str(program), *arguments]


def plain(program: Path, *arguments: str) -> list[str]:
    """The command that runs `program` as it is."""
    return [sys.executable, str(program), *arguments]


def steady_sides(folder: Path, program: Path, *arguments: str) -> list[Side]:
    """A program plain, recorded, with torch's own trace, and plain once more: so much is noise."""
    inductor = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    as_it_is = plain(program, *arguments)
    return [
        Side("plain", as_it_is, inductor),
        Side("dynamo run", recorded(program, *arguments, recording=folder / "recording"), inductor),
        Side("TORCH_TRACE", as_it_is, inductor | {"TORCH_TRACE": str(folder / "trace")}),
        Side("plain, once more", as_it_is, inductor),
    ]


def run_in_turn(sides: Sequence[Side], repeats: int) -> Runs:
    """Run every side once, then every side again, `repeats` times. A run that fails ends the benchmark."""
    runs: dict[str, list[Run]] = {side.name: [] for side in sides}
    for repeat in range(repeats):
        progress(f"round {repeat + 1} of {repeats}")
        for side in sides:
            side.prepare()
            runs[side.name].append(_run(side))
    progress("")
    return runs


def _run(side: Side) -> Run:
    with tempfile.TemporaryFile() as stderr:
        cpu_before, start = _cpu_of_children(), time.perf_counter()
        with subprocess.Popen(
            side.command, env=environment(side), stdout=subprocess.PIPE, stderr=stderr, text=True
        ) as child:
            stdout = child.stdout.read() if child.stdout is not None else ""
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        _wait_for_orphans()
        cpu = _cpu_of_children() - cpu_before
        if child.returncode != 0:
            stderr.seek(0)
            sys.exit(f"{side.name} failed ({child.returncode}):\n{stderr.read().decode(errors='replace')}")
    return Run(cpu, wall, usage.ru_maxrss / 1e3, stdout)


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _wait_for_orphans() -> None:
    """Inductor's compile workers can outlive the program that started them; their time counts as well."""
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def progress(text: str) -> None:
    """Where we are, on one line of the terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


@contextmanager
def workplace() -> Iterator[Path]:
    """An empty folder for recordings and caches, removed at the end. Orphans become ours to wait for."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the folder goes then, too
    folder = Path(tempfile.mkdtemp(prefix="dynamo-benchmark-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def repeats_from_arguments(description: str | None, default: int) -> int:
    """What `--repeats` on the command line says."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--repeats", type=int, default=default, metavar="N", help="rounds [%(default)s]")
    return max(1, int(parser.parse_args().repeats))


def print_comparison(title: str, unit: str, figures: Mapping[str, Sequence[float]], bound: str) -> None:
    """A table of each side's median, and its ratio and difference to the first side, pair by pair.

    The bound is for the second side, the one that runs under `dynamo`.
    """
    base, *others = figures
    heading = f"difference, {unit} (min to max)"
    print(f"\n{title}, {len(figures[base])} rounds")
    print(f"  {'':<20}{'median':>10}   {'ratio (min to max)':<29}{heading:<36}bound")
    print(f"  {base:<20}{median(figures[base]):>10.4g}")
    for number, other in enumerate(others):
        pairs = list(zip(figures[base], figures[other], strict=True))
        ratio = _median_and_range([b / a for a, b in pairs], ".4f")
        difference = _median_and_range([b - a for a, b in pairs], "+.3f")
        line = f"  {other:<20}{median(figures[other]):>10.4g}   {ratio:<29}{difference:<36}"
        print((line + (bound if number == 0 else "")).rstrip(), flush=True)


def _median_and_range(values: Sequence[float], form: str) -> str:
    return f"{median(values):{form}} ({min(values):{form}} to {max(values):{form}})"
