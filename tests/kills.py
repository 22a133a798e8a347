"""Kills commands at random moments, and looks at what they leave.

    PYTHONPATH=tests:tests/integration python tests/kills.py --kills 1000 [--seed N] [COMMAND…]

Each command runs in a copy of a Python that has imported torch, in a folder of its own, and all of its
processes get SIGKILL after a random time. Then a recording that was begun must read, files of the user's must
be as they were or as the finished command would have left them, and nothing may lie outside of the folders
that the commands name. Prints what is wrong, with the seed that shows it; the exit code is 1 then.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from launching import ForkingPython
from support.answering import Result, answer

PROGRAM = """
import torch
torch.manual_seed(0)

@torch.compile(backend="eager")
def step(x):
    y = x.sin()
    print("step")
    return y.cos()

for size in range(2, 8):
    step(torch.ones(size))
"""
_LONGEST_S = 6.0
_KNOWN_EXITS = {0, 1}  # of a report: it reads, or what was asked for is not there


@dataclass(frozen=True)
class Command:
    """What is killed; `kept` are files that it may write as a whole, `may_make` what else it may make."""

    arguments: tuple[str, ...]
    kept: tuple[str, ...] = ()
    may_make: tuple[str, ...] = (".dynamo",)


COMMANDS = {
    "run": Command(("run", "-q", "-o", "rec", "program.py"), may_make=("rec",)),
    "verify": Command(("run", "-q", "--verify", "-o", "rec", "program.py"), may_make=("rec",)),
    "explain": Command(("explain", "program.py")),
    "report": Command(("report", "before", "-o", "page.html"), kept=("page.html",)),
    "check": Command(("check", "--update", "program.py"), kept=("dynamo.lock",)),
    "fix": Command(("fix", "-y", "program.py"), kept=("program.py",)),
}


class Trial:
    """One command in one folder, killed after so many seconds."""

    def __init__(self, python: ForkingPython, pristine: Path, folder: Path) -> None:
        self._python, self._pristine, self._folder = python, pristine, folder

    def run(self, command: Command, after_s: float) -> bool:
        """Whether it was killed; it may have ended before."""
        shutil.copytree(self._pristine, self._folder)
        killer = threading.Timer(after_s, self._kill)
        killer.start()
        result = self._python.run("-m", "dynamo_cli", *command.arguments, cwd=self._folder)
        killer.cancel()
        killer.join()
        self._kill()  # the program, where only the tool ended
        return result.exit_code == -signal.SIGKILL

    def _kill(self) -> None:
        # Twice: a process may have been starting another one.
        for _ in range(2):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    is_ours = Path(os.readlink(process / "cwd")).is_relative_to(self._folder)
                    if is_ours and int(process.name) != os.getpid():
                        os.kill(int(process.name), signal.SIGKILL)
                except OSError:
                    continue

    def wrong(self, command: Command, finished: Path) -> list[str]:
        """What is not as it must be."""
        found = [
            f"{name} is neither what it was nor what it was to become"
            for name in ("program.py", "page.html", "dynamo.lock")
            if not self._is_whole(name, name in command.kept, finished)
        ]
        known = {each.name for each in self._pristine.iterdir()} | {*command.kept, *command.may_make}
        found += [f"{each.name} was left" for each in self._folder.iterdir() if each.name not in known]
        for recording in (self._folder / "rec", *(self._folder / ".dynamo").glob("2*")):
            if (recording / "dynamo_run.json").exists():
                result = answer("explain", "--format", "json", recording)
                found += _unreadable(recording.name, result)
        return found

    def _is_whole(self, name: str, may_change: bool, finished: Path) -> bool:
        now, before, after = (_content(folder / name) for folder in (self._folder, self._pristine, finished))
        return now == before or (may_change and now is not None and len(now) == len(after or b""))


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def _unreadable(name: str, result: Result) -> list[str]:
    try:
        json.loads(result.stdout)
    except ValueError:
        return [f"{name}: no document: {result.stdout[:200]} {result.stderr[:200]}"]
    if "Traceback" in result.stderr or result.exit_code not in _KNOWN_EXITS:
        return [f"{name}: exit code {result.exit_code}: {result.stderr[:300]}"]
    return []


def main() -> int:
    """Kill the named commands, or all, in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=", ".join(COMMANDS))
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    names = asked.commands or list(COMMANDS)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DYNAMO_", "TORCH"))}
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary).resolve()
        environment = kept | {"TMPDIR": str(base / "tmp"), "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
        (base / "tmp").mkdir()
        (base / "server").mkdir()
        python = ForkingPython(environment, base / "server")
        pristine = _pristine(python, base)
        finished = {name: _finished(python, pristine, base / f"finished-{name}", name) for name in names}
        killed = dict.fromkeys(names, 0)
        for seed in range(asked.seed, asked.seed + asked.kills):
            chance = random.Random(seed)
            name = names[seed % len(names)]
            trial = Trial(python, pristine, base / "trial")
            killed[name] += trial.run(COMMANDS[name], chance.uniform(0, finished[name][1]))
            for each in trial.wrong(COMMANDS[name], finished[name][0]):
                failures += 1
                print(f"{name}, seed {seed}: {each}", flush=True)
            shutil.rmtree(base / "trial")
        python.end()
        _say(killed, failures, asked.kills)
        print("left in the folder for temporary files:", len(list((base / "tmp").iterdir())))
    return 1 if failures else 0


def _pristine(python: ForkingPython, base: Path) -> Path:
    folder = base / "pristine"
    folder.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    python.run("-m", "dynamo_cli", "run", "-q", "-o", "before", "program.py", cwd=folder)
    return folder


def _finished(python: ForkingPython, pristine: Path, folder: Path, name: str) -> tuple[Path, float]:
    """The folder that a finished command leaves, and the seconds that it takes."""
    shutil.copytree(pristine, folder)
    began = time.perf_counter()
    result = python.run("-m", "dynamo_cli", *COMMANDS[name].arguments, cwd=folder)
    assert result.exit_code in _KNOWN_EXITS, (name, result.stderr)
    return folder, min(time.perf_counter() - began, _LONGEST_S)


def _say(killed: dict[str, int], failures: int, kills: int) -> None:
    counts: Sequence[str] = [f"{name} {count}" for name, count in killed.items()]
    print(f"{kills} runs, killed before their end: {', '.join(counts)}; {failures} wrong")


if __name__ == "__main__":
    sys.exit(main())
