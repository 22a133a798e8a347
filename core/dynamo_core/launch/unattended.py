"""Run a program that nobody watches: nothing to read, its output in files, and no longer than it may take."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..shared.errors import CannotRecord, ProgramNotExecutable
from ..shared.safe_writing import open_private
from .process import Ending


@dataclass
class Unattended:
    """How to run it: `stdout` and `stderr` are files to write, `environment` is added to the program's own.

    After `time_limit` seconds it is killed, with all the processes that it has started; `timed_out` says so.
    """

    stdout: Path
    stderr: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    time_limit: float | None = None
    timed_out: bool = False

    def run(self, executable: str, command: Sequence[str], environment: Mapping[str, str]) -> Ending:
        """Run it to its end. Whatever ends us first (Ctrl-C, say) ends it too."""
        try:
            with (
                open(open_private(self.stdout), "wb") as stdout,
                open(open_private(self.stderr), "wb") as stderr,
            ):
                child = self._start(executable, command, environment, stdout.fileno(), stderr.fileno())
        except OSError as error:
            raise CannotRecord(f"cannot write {error.filename}: {error.strerror}") from error
        try:
            status = child.wait(self.time_limit)
        except subprocess.TimeoutExpired:
            self.timed_out = True
            _kill(child)
            status = child.wait()
        except BaseException:
            _kill(child)
            child.wait()
            raise
        return Ending.of_return_code(status)

    def _start(
        self,
        executable: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        stdout: int,
        stderr: int,
    ) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(
                command,
                executable=executable,
                env={**environment, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramNotExecutable(f"cannot start {executable}: {error.strerror}") from error


def _kill(child: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:  # it has just ended by itself
        pass
