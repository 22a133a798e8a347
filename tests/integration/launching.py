"""Runs `dynamo run …` again and again, each program forked from one process that has imported torch."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from answering import Result

_LAUNCHER = Path(__file__).resolve().parent / "forking_launcher.py"
_COMPILER = ("torch", "torch._dynamo", "torch._inductor.compile_fx", "torch._functorch.aot_autograd")


class Launcher:
    """A process that has imported torch in this environment, and runs `dynamo run …` whenever it is asked."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._process = subprocess.Popen(
            [sys.executable, str(_LAUNCHER), *_COMPILER],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, recording: Path, *arguments: str) -> Result:
        """Run it to its end, in the folder that the recording goes to."""
        assert self._process.stdin and self._process.stdout
        stdout, stderr = recording.with_suffix(".out"), recording.with_suffix(".err")
        request = {
            "arguments": ["run", "-q", "-o", str(recording), *arguments],
            "environment": self._environment,
            "cwd": str(recording.parent),
            "stdout": str(stdout),
            "stderr": str(stderr),
        }
        print(json.dumps(request), file=self._process.stdin, flush=True)
        exit_code = int(self._process.stdout.readline())
        return Result(exit_code, stdout.read_text(), stderr.read_text())

    def end(self) -> None:
        """Let it end."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
