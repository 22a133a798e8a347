"""Copies of the program's process, made by forks, that have no part in the program's life.

A copy has the program's state, modes of torch and random numbers as they are at that moment, and nothing
that is done in it can reach the program: neither an error, nor a crash, nor a hang. It is no child of the
program's (`os.wait` would wait for it), has a session of its own (Ctrl-C is the program's), and holds none of
its files open (who reads the program's output sees it end).

A fork has no other thread: torch's own (OpenMP) hang there where more than one is wanted, so that it computes
with one. CUDA cannot be used in a fork.
"""

import ctypes
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from .primitives import O_RDWR

_LONGEST_FORK = 10.0  # seconds
_LOOKS_EVERY = 0.001


def fork() -> int:
    """os.fork without Python's warning of a fork beside threads (3.12).

    Where the program's filters ignore the warning, as Python's own do, they are left alone: changing them is
    not safe beside a thread that does the same.
    """
    if sys.version_info < (3, 12) or _ignores_deprecations():
        return os.fork()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def compute_with_one_thread() -> None:
    """In a copy: let no operation use a second thread, and torch tell of as many threads as before.

    Guards compare that number: with another one, what was compiled earlier would be compiled again. In OpenMP
    a parallel region has one thread where no level of them may be active.

    Source: torch/csrc/dynamo/guards.cpp (GlobalStateGuard), aten/src/ATen/ParallelOpenMP.cpp, read in 2.13.
    """
    torch = sys.modules["torch"]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # MKL's as well
    openmp = ctypes.CDLL(None)
    with suppress(AttributeError):  # torch is built without OpenMP
        openmp.omp_set_max_active_levels(0)
        openmp.omp_set_num_threads(threads)


def _ignores_deprecations() -> bool:
    """Whether a DeprecationWarning of this module is ignored, whatever its text and line are."""
    for action, text, category, module, line in warnings.filters:
        if issubclass(DeprecationWarning, category) and (module is None or module.match(__name__)):
            if action != "ignore":
                return False
            if text is None and not line:
                return True
    return False


def has_other_threads() -> bool:
    """Whether another thread than this one runs Python code, so that values may change at any moment.

    The thread of tqdm's progress bars, with one of which torch runs each graph that it compiles, changes none
    and does not count.

    Source: torch/fx/interpreter.py (Interpreter.run), read in 2.13; tqdm/_monitor.py.
    """
    own = threading.get_ident()
    return any(not _is_of_tqdm(frame) for thread, frame in sys._current_frames().items() if thread != own)


def _is_of_tqdm(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_globals.get("__name__") != "tqdm._monitor":
        frame = frame.f_back
    return frame is not None


def do_in_copy(work: Callable[[], None], kept: set[int]) -> None:
    """Start `work` in a copy of this process, which ends after it; of its files it has those in `kept`.

    Raises TimeoutError where what the program does at a fork (`os.register_at_fork`) hangs.
    """
    child = fork()
    if child == 0:
        try:
            if fork() == 0:
                _detach(kept)
                work()
        finally:
            os._exit(0)
    until = time.monotonic() + _LONGEST_FORK
    if exit_code(child, lambda: time.monotonic() > until, _LOOKS_EVERY) < 0:
        raise TimeoutError("the process could not be copied")


def _detach(kept: set[int]) -> None:
    """Let go of what the program shares with others: session, signals, and files, which lead nowhere now."""
    os.setsid()
    for caught in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(caught, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    nowhere = os.open(os.devnull, O_RDWR)
    for name in os.listdir("/dev/fd"):
        number = int(name)
        if number not in kept and number != nowhere:
            try:
                os.dup2(nowhere, number)
            except OSError:  # that of the list itself
                pass


def exit_code(child: int, is_over: Callable[[], bool], seconds: float) -> int:
    """The exit code of a child process, negative for a signal; it is killed once `is_over` says so.

    That is asked, and the child looked at, every so many seconds.
    """
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if is_over():
            os.kill(child, signal.SIGKILL)
        time.sleep(seconds)
