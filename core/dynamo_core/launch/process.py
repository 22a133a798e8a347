"""Run the program: as the shell would, passing signals on, or unattended with its output in files.

All signals that we pass on are blocked before the child exists, and taken one by one from the queue: none is
lost at any moment, and there is no handler that could run at the wrong time.
"""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path
from select import select
from threading import Event, Thread
from typing import Any, NoReturn

from ..shared.errors import CannotRecord, DynamoError, ProgramNotExecutable, ProgramNotFound
from ..shared.quick_dataclass import dataclass
from ..shared.safe_writing import open_private

_FORWARDED = {
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGWINCH,
}
# From the terminal, these go to the whole process group, so the child has them already.
_TYPED = {signal.SIGINT, signal.SIGQUIT, signal.SIGWINCH}
_SENT_BY_KERNEL = 0x80  # SI_KERNEL in siginfo's si_code
# Python ignores these from its start, so their earlier handling is unknown; the child gets the default.
_IGNORED_BY_PYTHON = [signal.SIGPIPE, signal.SIGXFSZ]


@dataclass(frozen=True)
class Ending:
    """How a process ended: with an exit code, or by a signal."""

    exit_code: int | None
    signal: int | None

    @classmethod
    def of_return_code(cls, code: int) -> "Ending":
        """From a return code of `subprocess` or `os.waitstatus_to_exitcode`, where a signal is negative."""
        return cls(None, -code) if code < 0 else cls(code, None)


def run(
    executable: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdout_to_stderr: bool = False,
    while_running: Callable[[], None] | None = None,
) -> Ending:
    """Run `command` to its end; `while_running` is called about ten times a second.

    The signals that we pass on stay blocked until `end_like`, so that none interrupts our last output.
    """
    if not hasattr(signal, "sigtimedwait"):
        raise DynamoError(f"running programs is not supported on {sys.platform}: it needs Linux")
    waited_for = _FORWARDED | {signal.SIGCHLD}
    mask_before = signal.pthread_sigmask(signal.SIG_BLOCK, waited_for)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        child = _spawn(executable, command, environment, mask_before, stdout_to_stderr)
    except DynamoError:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask_before)
        raise
    return _wait(child, waited_for, while_running)


def _spawn(
    executable: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    mask: set[int],
    stdout_to_stderr: bool,
) -> int:
    actions = [(os.POSIX_SPAWN_DUP2, 2, 1)] if stdout_to_stderr else []
    try:
        return os.posix_spawn(
            executable,
            list(command),
            environment,
            file_actions=actions,
            setsigmask=mask,
            setsigdef=_IGNORED_BY_PYTHON,
        )
    except FileNotFoundError as error:
        raise ProgramNotFound(f"cannot start {executable}: no such file") from error
    except OSError as error:
        raise ProgramNotExecutable(f"cannot start {executable}: {error.strerror}") from error


def _wait(child: int, waited_for: set[signal.Signals], while_running: Callable[[], None] | None) -> Ending:
    while True:
        if while_running is not None:
            arrived = signal.sigtimedwait(waited_for, 0.1)
            try:
                while_running()
            except Exception:  # whatever fails on our side, we still wait for the program
                while_running = None
        else:
            arrived = signal.sigwaitinfo(waited_for)
        if arrived is None:
            continue
        if arrived.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if not ended:
                continue
            return Ending.of_return_code(os.waitstatus_to_exitcode(status))
        if arrived.si_signo not in _TYPED or arrived.si_code != _SENT_BY_KERNEL:
            os.kill(child, arrived.si_signo)  # the child is not reaped yet, so its id is not reused


def end_like(ending: Ending) -> NoReturn:
    """End this process as the program ended, without a core file of our own."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):  # closed, or its reader has gone
            pass
    if ending.signal is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if ending.signal != signal.SIGKILL:
            signal.signal(ending.signal, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {ending.signal})
        os.kill(os.getpid(), ending.signal)
    os._exit(ending.exit_code if ending.exit_code is not None else 128 + (ending.signal or 0))


LONGEST_END = 1 << 16  # bytes of the end that are written, where the middle is left out
_PIECE = 1 << 16
_LOOK_AGAIN = 0.05  # seconds; how soon it is noticed that the program has ended
_LARGEST_PIPE = 1 << 20  # bytes that may still be in the pipe then


@contextmanager
def bounded_output(path: Path, most: int) -> Iterator[int]:
    """A file descriptor for a program's output, of which the first `most` bytes and the end go to `path`.

    On exit, all output until then is written; what processes left by the program write later is lost.
    """
    with open(open_private(path), "wb") as file:
        reading, writing = os.pipe()
        has_ended = Event()
        copier = Thread(target=_copy, args=(reading, file.fileno(), most, has_ended), daemon=True)
        copier.start()
        try:
            yield writing
        finally:
            os.close(writing)
            has_ended.set()
            copier.join()
            os.close(reading)


def _copy(reading: int, file: int, most: int, has_ended: Event) -> None:
    left, end, cut = most, b"", 0
    for piece in _pieces(reading, has_ended):
        first, rest = piece[:left], piece[left:]
        left -= len(first)
        _write(file, first)
        end += rest
        cut += max(0, len(end) - LONGEST_END)
        end = end[-LONGEST_END:]
    note = f"\n[dynamo: {cut:,} bytes are left out here]\n".encode() if cut else b""
    _write(file, note + end)


def _pieces(reading: int, has_ended: Event) -> Iterator[bytes]:
    """Output until the program has ended, and what is in the pipe then, even if others go on writing."""
    last = 0
    while last < _LARGEST_PIPE:
        is_over = has_ended.is_set()
        if select([reading], [], [], 0 if is_over else _LOOK_AGAIN)[0]:
            piece = os.read(reading, _PIECE)
            if not piece:  # the other end is closed everywhere
                return
            last += len(piece) if is_over else 0
            yield piece
        elif is_over:
            return


def _write(file: int, content: bytes) -> None:
    """Write all of it; on a full disk, the program goes on without its log."""
    while content:
        try:
            content = content[os.write(file, content) :]
        except OSError:
            return


_PR_SET_PDEATHSIG = 1


@dataclass
class Unattended:
    """How to run a program unattended: `stdout` and `stderr` are files, `environment` is added to its own.

    After `time_limit` seconds it is killed, with all processes that it has started; then `timed_out` is set.
    Of each output, the first `most_output` bytes and the end are kept.
    """

    stdout: Path
    stderr: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    time_limit: float | None = None
    most_output: int | None = None
    timed_out: bool = False

    def run(self, executable: str, command: Sequence[str], environment: Mapping[str, str]) -> Ending:
        """Run the program to its end. If this process ends first (Ctrl-C, SIGKILL), the program ends too."""
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
            kill_session(child)
            status = child.returncode
        except BaseException:
            kill_session(child)
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
                preexec_fn=_end_with_parent(),
            )
        except OSError as error:
            raise ProgramNotExecutable(f"cannot start {executable}: {error.strerror}") from error


def _end_with_parent() -> Callable[[], None] | None:
    """What a child calls first, so that the kernel kills it when its parent is killed; None but on Linux.

    See prctl(2), PR_SET_PDEATHSIG.
    """
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    prctl = ctypes.CDLL(None).prctl  # looked up here: little is safe between fork and exec
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def kill_session(child: "subprocess.Popen[Any]") -> None:
    """Kill a process that began a session, with all that it has started in it, and wait for its end."""
    with suppress(ProcessLookupError):  # it has just ended by itself
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
