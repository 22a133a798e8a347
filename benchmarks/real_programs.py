"""Programs of public projects, plain and under `dynamo run`: output, exit code, time, torch's counts.

`programs/real/` has scripts that build a small model of a project with random numbers, and train or run it
as the project's README shows. What they import is not part of this project: `pip install --no-deps` what is
missing. A program that is captured also runs with `torch.compile` of each outermost module:
"by torch.compile" in the table, to compare graphs and graph breaks.
"""

import argparse
import ctypes
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairs import PROGRAMS

RATIO_BOUND, ALLOWANCE_S = 3, 60
TIME_LIMIT_S = 900
REAL = PROGRAMS / "real"
COUNTERS = Path(__file__).resolve().parents[1] / "tests" / "integration" / "torch_counters"
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_COMPARED = ("graphs", "graph_breaks", "recompiles")
_COLUMNS = (
    "program",
    "project",
    "compiled by",
    "exit",
    "output",
    "wall",
    "CPU",
    "graphs, breaks, recompiles",
    "by torch.compile",
    "frames left eager",
)


@dataclass(frozen=True)
class Run:
    """How a run of a program ended, what it cost with all its processes, and torch's counters in it."""

    stdout: str
    exit_code: int
    wall_s: float
    cpu_s: float
    counts: dict[str, int]


def run(command: list[str], folder: Path) -> Run:
    """Run a command and wait for all that it started; its stdout, stderr and counters lie in `folder`."""
    counters = folder / "counters"
    counters.mkdir(parents=True)
    environment = os.environ | {
        "PYTHONPATH": str(COUNTERS),
        "TORCH_COUNTERS_FOLDER": str(counters),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"),
    }
    began, before = time.monotonic(), sum(os.times()[2:4])
    with (folder / "stdout").open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
        try:
            ended = subprocess.run(
                command, env=environment, stdout=stdout, stderr=stderr, timeout=TIME_LIMIT_S, check=False
            )
            exit_code = ended.returncode
        except subprocess.TimeoutExpired:
            exit_code = 124
    wall_s = time.monotonic() - began
    _wait_for_orphans()
    cpu_s = sum(os.times()[2:4]) - before
    counted = [json.loads(file.read_text()) for file in counters.iterdir()]
    counts = {name: sum(each[name] for each in counted) for name in _COMPARED}
    return Run((folder / "stdout").read_text(errors="replace"), exit_code, wall_s, cpu_s, counts)


def _wait_for_orphans() -> None:
    """Inductor's workers may outlive the program; their time counts as well."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)
        except ChildProcessError:
            return


def row(program: Path, folder: Path, options: list[str]) -> str:
    """Run a program in each way; its row of the table."""
    plain = run([sys.executable, str(program)], folder / "plain")
    recording = folder / "recording"
    command = [sys.executable, "-m", "dynamo_cli", "run", "-q", *options, "-o", str(recording), str(program)]
    recorded = run(command, folder / "recorded")
    summary = explained(recording)["summary"]
    calls_compile = "torch.compile(" in program.read_text()
    by_torch = plain.counts
    if not calls_compile:
        modules = [sys.executable, str(PROGRAMS / "compile_modules.py"), str(program)]
        by_torch = run(modules, folder / "compiled").counts
    counts = {name: summary[name] for name in _COMPARED}
    return " | ".join(
        (
            program.stem,
            project(program),
            "the program" if calls_compile else "capture",
            f"{plain.exit_code} {recorded.exit_code}",
            difference(plain.stdout, recorded.stdout),
            _times(plain.wall_s, recorded.wall_s),
            _times(plain.cpu_s, recorded.cpu_s),
            _numbers(counts)
            + ("" if counts == recorded.counts else f" **torch {_numbers(recorded.counts)}**"),
            _numbers(by_torch),
            str(summary["frames_left_eager"]),
        )
    )


def explained(recording: Path) -> dict[str, Any]:
    """The JSON document that `dynamo explain` makes of a recording."""
    command = [sys.executable, "-m", "dynamo_cli", "explain", str(recording), "--format", "json"]
    document: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return document


def project(program: Path) -> str:
    """The project and version: the docstring of a program begins with the package's name."""
    name = program.read_text().partition('"""')[2].partition(":")[0]
    return f"{name} {importlib.metadata.version(name)}"


def difference(plain: str, recorded: str) -> str:
    """Whether two outputs are the same; if only numbers differ, by how much at most."""
    if plain == recorded:
        return "same"
    number = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
    if number.sub("#", plain) != number.sub("#", recorded):
        return "**differs**"
    pairs = zip(map(float, number.findall(plain)), map(float, number.findall(recorded)), strict=True)
    return f"numbers differ by {max(abs(a - b) for a, b in pairs):.1g}"


def _times(plain_s: float, recorded_s: float) -> str:
    is_over = recorded_s > RATIO_BOUND * plain_s + ALLOWANCE_S
    return f"{plain_s:.1f} → {recorded_s:.1f} s" + (" **over**" if is_over else "")


def _numbers(counts: dict[str, int]) -> str:
    return " ".join(str(counts[name]) for name in _COMPARED)


def main() -> None:
    """Run the programs that are named, or all, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--backend", help="for capture, in place of Inductor")
    parser.add_argument("--keep", type=Path, help="an empty folder for recordings and outputs")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="a name in programs/real")
    given = parser.parse_args()
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    options = ["--backend", given.backend] if given.backend else []
    programs = [REAL / f"{name}.py" for name in given.programs] or sorted(REAL.glob("*.py"))
    print(" | ".join(_COLUMNS))
    print(" | ".join(["---"] * len(_COLUMNS)))
    with tempfile.TemporaryDirectory() as temporary:
        for program in programs:
            folder = (given.keep or Path(temporary)).resolve() / program.stem
            try:
                print(row(program, folder, options), flush=True)
            except Exception as error:  # the other programs are still to be run
                print(f"{program.stem} | {type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main()
