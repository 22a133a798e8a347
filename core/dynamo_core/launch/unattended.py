"""Run a program that nobody watches: nothing to read, its output in files, and no longer than it may take."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from ..shared.errors import CannotRecord, ProgramNotExecutable
from ..shared.quick_dataclass import dataclass
from ..shared.safe_writing import open_private
from .bounded_output import bounded_output
from .process import Ending

_PR_SET_PDEATHSIG = 1


@dataclass
class Unattended:
    """How to run it: `stdout` and `stderr` are files to write, `environment` is added to the program's own.

    After `time_limit` seconds it is killed, with all the processes that it has started; `timed_out` says so.
    Of what it writes to either, the first `most_output` bytes are kept, and the last ones.
    """

    stdout: Path
    stderr: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    time_limit: float | None = None
    most_output: int | None = None
    timed_out: bool = False

    def run(self, executable: str, command: Sequence[str], environment: Mapping[str, str]) -> Ending:
        """Run it to its end. Whatever ends us first (Ctrl-C, or SIGKILL) ends it too."""
        try:
            with self._output(self.stdout) as stdout, self._output(self.stderr) as stderr:
                return self._wait(self._start(executable, command, environment, stdout, stderr))
        except OSError as error:
            raise CannotRecord(f"cannot write {error.filename}: {error.strerror}") from error

    @contextmanager
    def _output(self, file: Path) -> Iterator[int]:
        if self.most_output is not None:
            with bounded_output(file, self.most_output) as descriptor:
                yield descriptor
        else:
            with open(open_private(file), "wb") as opened:
                yield opened.fileno()

    def _wait(self, child: "subprocess.Popen[bytes]") -> Ending:
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
                preexec_fn=_ending_with_us(),
            )
        except OSError as error:
            raise ProgramNotExecutable(f"cannot start {executable}: {error.strerror}") from error


def _ending_with_us() -> Callable[[], None] | None:
    """What a child does first: the kernel ends it where we are killed, or it would run on, watched by nobody.

    See prctl(2), PR_SET_PDEATHSIG, which is Linux's; None elsewhere.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl  # looked up here: little is safe between fork and exec
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _kill(child: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:  # it has just ended by itself
        pass
