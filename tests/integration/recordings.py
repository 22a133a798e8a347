"""Recordings that several tests read, each made once a session by the real command."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_HERE = Path(__file__).resolve().parent
SAMPLES = _HERE.parents[1] / "sample_scripts"
PROGRAMS = _HERE / "programs"
PROGRAM_OF = {
    "toy": SAMPLES / "toy_example.py",
    "twenty_breaks": PROGRAMS / "twenty_breaks.py",
    "recompiling": PROGRAMS / "recompiling.py",
}


class Recordings:
    """Makes what is asked for when it is first asked for."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment

    def ours(self, name: str) -> Path:
        """The folder that `dynamo run` wrote of a program."""
        path = self._folder / name
        if not path.exists():
            command = [sys.executable, "-m", "dynamo_cli", "run", "-o", path, PROGRAM_OF[name]]
            self._run(command, {})
        return path

    def plain(self, name: str) -> Path:
        """A TORCH_TRACE folder of a program that dynamo had nothing to do with."""
        path = self._folder / f"plain_{name}"
        if not path.exists():
            self._run([sys.executable, PROGRAM_OF[name]], {"TORCH_TRACE": str(path)})
        return path

    def _run(self, command: list[str | Path], more: Mapping[str, str]) -> None:
        finished = subprocess.run(
            command,
            env={**self._environment, **more},
            cwd=self._folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert finished.returncode == 0, os.linesep.join([finished.stdout, finished.stderr])
