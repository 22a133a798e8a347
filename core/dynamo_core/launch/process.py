"""Run a command as a child that cannot be told from one run by the shell, and end as it ended.

All signals that we pass on are blocked from before the child exists, and taken one by one from the queue:
there is no moment at which one is lost, and no handler that could run at the wrong time.
"""

import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from ..errors import DynamoError, ProgramNotExecutable, ProgramNotFound

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
_SENT_BY_KERNEL = 0x80  # SI_KERNEL: typed at the terminal, so the child's process group has it already
# Python ignores these at start-up; the child must find them as we did.
_IGNORED_BY_PYTHON = [signal.SIGPIPE, signal.SIGXFSZ]


@dataclass(frozen=True)
class Ending:
    """How a process ended: with an exit code, or by a signal."""

    exit_code: int | None
    signal: int | None


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdout_to_stderr: bool = False,
    while_running: Callable[[], None] | None = None,
) -> Ending:
    """Run `command` to its end; `while_running` is called about ten times a second."""
    if not hasattr(signal, "sigtimedwait"):
        raise DynamoError(f"running programs is not supported on {sys.platform}: it needs Linux")
    waited_for = _FORWARDED | {signal.SIGCHLD}
    mask_before = signal.pthread_sigmask(signal.SIG_BLOCK, waited_for)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        child = _spawn(command, environment, mask_before, stdout_to_stderr)
        return _wait(child, waited_for, while_running)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask_before)


def _spawn(
    command: Sequence[str], environment: Mapping[str, str], mask: set[int], stdout_to_stderr: bool
) -> int:
    actions = [(os.POSIX_SPAWN_DUP2, 2, 1)] if stdout_to_stderr else []
    try:
        return os.posix_spawn(
            command[0],
            list(command),
            environment,
            file_actions=actions,
            setsigmask=mask,
            setsigdef=_IGNORED_BY_PYTHON,
        )
    except FileNotFoundError as error:
        raise ProgramNotFound(f"cannot start {command[0]}: no such file") from error
    except OSError as error:
        raise ProgramNotExecutable(f"cannot start {command[0]}: {error.strerror}") from error


def _wait(child: int, waited_for: set[signal.Signals], while_running: Callable[[], None] | None) -> Ending:
    while True:
        if while_running is not None:
            arrived = signal.sigtimedwait(waited_for, 0.1)
            while_running()
        else:
            arrived = signal.sigwaitinfo(waited_for)
        if arrived is None:
            continue
        if arrived.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
            if not ended:
                continue
            if os.WIFSTOPPED(status):
                if os.WSTOPSIG(status) == signal.SIGSTOP:  # others come from the terminal, to us as well
                    _stop_with(child)
            elif os.WIFSIGNALED(status):
                return Ending(None, os.WTERMSIG(status))
            else:
                return Ending(os.WEXITSTATUS(status), None)
        elif arrived.si_code != _SENT_BY_KERNEL:
            os.kill(child, arrived.si_signo)  # not reaped yet, so the id is still the child's


def _stop_with(child: int) -> None:
    """The child was stopped: stop too, so that the shell gets its prompt; continue it when we continue."""
    os.kill(os.getpid(), signal.SIGSTOP)
    os.kill(child, signal.SIGCONT)


def end_like(ending: Ending) -> NoReturn:
    """End this process as the program ended, without a core file of our own."""
    sys.stdout.flush()
    sys.stderr.flush()
    if ending.signal is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if ending.signal != signal.SIGKILL:
            signal.signal(ending.signal, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {ending.signal})
        os.kill(os.getpid(), ending.signal)
    os._exit(ending.exit_code if ending.exit_code is not None else 128 + (ending.signal or 0))
