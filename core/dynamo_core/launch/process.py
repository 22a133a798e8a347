"""Run a command as a child that cannot be told from one run by the shell, and end as it ended.

All signals that we pass on are blocked from before the child exists, and taken one by one from the queue:
there is no moment at which one is lost, and no handler that could run at the wrong time.
"""

import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from ..shared.errors import DynamoError, ProgramNotExecutable, ProgramNotFound
from ..shared.quick_dataclass import dataclass

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
# Typed at the terminal (or its size changed), these go to the whole process group: the child has them.
_TYPED = {signal.SIGINT, signal.SIGQUIT, signal.SIGWINCH}
_SENT_BY_KERNEL = 0x80  # SI_KERNEL in siginfo's si_code
# Python ignores these at start-up, so what they were before cannot be known; the default is the usual.
_IGNORED_BY_PYTHON = [signal.SIGPIPE, signal.SIGXFSZ]


@dataclass(frozen=True)
class Ending:
    """How a process ended: with an exit code, or by a signal."""

    exit_code: int | None
    signal: int | None

    @classmethod
    def of_return_code(cls, code: int) -> "Ending":
        """From what `subprocess` and `os.waitstatus_to_exitcode` give: a signal is a negative number."""
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

    The signals that we pass on stay blocked afterwards, until `end_like`: none may cut our last word short.
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
            except Exception:  # whatever goes wrong on our side, the program is waited for
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
            os.kill(child, arrived.si_signo)  # not reaped yet, so the id is still the child's


def end_like(ending: Ending) -> NoReturn:
    """End this process as the program ended, without a core file of our own."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):  # closed, or nobody reads it any more
            pass
    if ending.signal is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if ending.signal != signal.SIGKILL:
            signal.signal(ending.signal, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {ending.signal})
        os.kill(os.getpid(), ending.signal)
    os._exit(ending.exit_code if ending.exit_code is not None else 128 + (ending.signal or 0))
