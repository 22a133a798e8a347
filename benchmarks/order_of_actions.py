"""Whether the first action is the one that saves most, and whether each saves no more than was said.

Each program in programs/order has two to four causes, each on a line that ends in `# cause: NAME`. Its header
has the edit that cures it as the tool says, `# cure NAME: OLD => NEW`, and which one was expected to save
most. Each edit is made in a copy, alone. What it saves is the CPU time of the program as it
is less that of the copy, as the median of runs in turn. All are children of a Python that has imported torch
and compiled once, with Inductor's caches empty.
"""

import argparse
import importlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from pairs import PROGRAMS, progress, workplace

FOLDER = PROGRAMS / "order"
_CURE = re.compile(r"^# cure (\w+): (.+) => (.*)\n", re.MULTILINE)
_FIRST = re.compile(r"^# first: (\w+)\n", re.MULTILINE)
_CAUSE = re.compile(r"# cause: (\w+)$")
_FIRST_ACTIONS = 3
_HEADINGS = ("program", "expected", "first action", "saves most", "saved by each (at most), s", "bounds hold")
_SHARE, _SECONDS = 0.2, 0.05  # what a saving may be above its bound, as noise


@dataclass(frozen=True)
class Action:
    """An action of the tool's: the cause that it cures, what it does, and what it saves at most, in s."""

    cause: str
    remedy: str
    bound: float | None


def main() -> None:
    """For each program its first actions, with what each said and what it saved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="rounds [%(default)s]")
    parser.add_argument("--remedies", action="store_true", help="only print what each action says")
    parser.add_argument("programs", nargs="*", help="names of programs [all]")
    asked = parser.parse_args()
    programs = [
        each for each in sorted(FOLDER.glob("*.py")) if not asked.programs or each.stem in asked.programs
    ]
    with workplace() as folder:
        print(*_HEADINGS, sep=" | ", flush=True)
        _import_torch(folder)
        for program in programs:
            actions = _actions(program, folder / program.stem)
            if asked.remedies:
                print(
                    program.stem,
                    *(f"  {each.cause}: {each.bound} {each.remedy}" for each in actions),
                    sep="\n",
                )
            else:
                print(_row(program, actions, _measured(program, folder, asked.repeats)), flush=True)


def _row(program: Path, actions: Sequence[Action], taken: Mapping[str, Sequence[float]]) -> str:
    bounds = {each.cause: each.bound for each in reversed(actions)}
    saved = {cause: _saved(taken, cause) for cause in taken if cause}
    in_order = dict.fromkeys([*reversed(bounds), *saved])
    best = max(saved, key=lambda cause: saved[cause])
    above = [cause for cause in saved if cause in bounds and _is_above(saved[cause], bounds[cause])]
    return " | ".join(
        [
            program.stem,
            _FIRST.findall(program.read_text())[0],
            actions[0].cause,
            best if saved[best] > _SECONDS else "none",
            "; ".join(f"{each} {_shown(saved.get(each))} ({_shown(bounds.get(each))})" for each in in_order),
            f"no: {', '.join(above)}" if above else "yes",
        ]
    )


def _saved(taken: Mapping[str, Sequence[float]], cause: str) -> float:
    pairs = zip(taken[""], taken[cause], strict=True)
    return median(before - after for before, after in pairs)


def _shown(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.2f}"


def _is_above(saved: float, bound: float | None) -> bool:
    return bound is not None and saved > bound * (1 + _SHARE) + _SECONDS


def _actions(program: Path, recording: Path) -> list[Action]:
    """The first actions that `dynamo explain` has for the program."""
    tool = [sys.executable, "-m", "dynamo_cli"]
    environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": f"{recording}-cache"}
    run = [*tool, "run", "-q", "-o", str(recording), str(program)]
    subprocess.run(run, check=True, capture_output=True, env=environment)
    explained = subprocess.run(
        [*tool, "explain", str(recording), "--format", "json"], check=True, capture_output=True
    )
    document = json.loads(explained.stdout)
    findings = {each["identity"]: each for each in document["findings"]}
    lines = program.read_text().splitlines()
    return [
        Action(
            _cause(findings[action["cures"][0]], lines),
            (action["remedy"] or {}).get("text", "no remedy"),
            action["saves_at_most"]["seconds"],
        )
        for action in document["actions"][:_FIRST_ACTIONS]
    ]


def _cause(finding: Mapping[str, Any], lines: Sequence[str]) -> str:
    """The planted cause on the finding's line; else the finding's kind."""
    place = finding["place"]
    found = _CAUSE.search(lines[place["line"] - 1]) if place else None
    return found[1] if found else str(finding["kind"])


def _measured(program: Path, folder: Path, repeats: int) -> dict[str, list[float]]:
    """The CPU time of each run of the program as it is (by "") and with each cure, in s."""
    text = program.read_text()
    copies = {"": (bare := _CURE.sub("", text))}
    for name, old, new in _CURE.findall(text):
        assert old in bare, f"{program}: {old}"
        copies[name] = bare.replace(old, new)
    taken: dict[str, list[float]] = {name: [] for name in copies}
    for repeat in range(repeats):
        for name, source in copies.items():
            progress(f"{program.stem}, round {repeat + 1}: {name or 'as it is'}")
            copy = folder / f"{program.stem}_{name}.py"
            copy.write_text(source)
            taken[name].append(_cpu_of(copy, folder / "inductor"))
    progress("")
    return taken


def _import_torch(folder: Path) -> None:
    """Import all that compiling needs, so that no child has to."""
    os.environ |= {
        "OMP_NUM_THREADS": "1",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
    }
    import torch

    torch.set_num_threads(1)
    torch.compile(lambda x: x + 1, backend="aot_eager")(torch.ones(1))
    importlib.import_module("torch._inductor.compile_fx")
    torch._dynamo.reset()


def _cpu_of(program: Path, caches: Path) -> float:
    """The CPU seconds of a copy of this process that runs the program, and of its children."""
    for cached in caches.glob("*"):
        if cached.name != "precompiled_headers":  # the same for every program
            shutil.rmtree(cached, ignore_errors=True)
    child = os.fork()
    if child == 0:
        with open(os.devnull, "w") as nothing:
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        code = 1
        try:
            runpy.run_path(str(program), run_name="__main__")
            code = 0
        finally:
            os._exit(code)
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"{program} failed")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
