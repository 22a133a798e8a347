"""Fork a copy of the program's process that has no part in the program's life."""

import os
import signal
import warnings


def fork() -> int:
    """Fork, without Python's warning of a fork beside threads (3.12)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def leave_session() -> None:
    """In a fork: signals to the program's group do not reach it, and none is handled or blocked."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
