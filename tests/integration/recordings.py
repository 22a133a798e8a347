"""Recordings that several tests read, each made once a session by the real command."""

import os
from pathlib import Path

from launching import ForkingPython
from support.answering import Result

_HERE = Path(__file__).resolve().parent
REPOSITORY = _HERE.parents[1]
SAMPLES = REPOSITORY / "sample_scripts"
PROGRAMS = _HERE / "programs"
PROGRAM_OF = {
    "toy": SAMPLES / "toy_example.py",
    "twenty_breaks": PROGRAMS / "twenty_breaks.py",
    "recompiling": PROGRAMS / "recompiling.py",
}


class Recordings:
    """Makes what is asked for when it is first asked for."""

    def __init__(self, folder: Path, python: ForkingPython) -> None:
        self._folder = folder
        self._python = python

    def ours(self, name: str) -> Path:
        """The folder that `dynamo run` wrote of a program."""
        path = self._folder / name
        if not path.exists():
            command = ("-m", "dynamo_cli", "run", "-o", path, PROGRAM_OF[name])
            _check(self._python.run(*command, cwd=self._folder))
        return path

    def plain(self, name: str) -> Path:
        """A TORCH_TRACE folder of a program that dynamo had nothing to do with."""
        path = self._folder / f"plain_{name}"
        if not path.exists():
            more = {"TORCH_TRACE": str(path)}
            _check(self._python.run_anew(PROGRAM_OF[name], cwd=self._folder, more=more))
        return path


def _check(result: Result) -> None:
    assert result.exit_code == 0, os.linesep.join([result.stdout, result.stderr])
