"""Copies of the program's process, made by forks, that have no part in the program's life.

A copy has the program's state, modes of torch and random numbers as they are at that moment, and nothing
that is done in it can reach the program: neither an error, nor a crash, nor a hang. It is no child of the
program's (`os.wait` would wait for it), has a session of its own (Ctrl-C is the program's), and holds none of
its files open (who reads the program's output sees it end).

A fork has no other thread. OpenMP would wait there for those that it had, so that they are ended before. CUDA
cannot be used in a fork.
"""

import ctypes
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from .primitives import O_RDWR

if TYPE_CHECKING:
    import re

_LONGEST_FORK = 10.0  # seconds
_OMP_PAUSE_SOFT = 1
# Modules whose functions run in threads that change no value of the program.
_CHANGE_NOTHING = (
    *("torch.utils.data._utils.pin_memory", "multiprocessing.queues"),
    *("torch._inductor.compile_worker.subproc_pool", "torch._inductor.compile_worker.timer"),
)
_LOOKS_EVERY = 0.001


def fork() -> int:
    """os.fork without Python's warning of a fork beside threads (3.12).

    Where the program's filters ignore the warning, as Python's own do, they are left alone: changing them is
    not safe beside a thread that does the same.
    """
    _end_openmp_threads()
    if sys.version_info < (3, 12) or _ignores_deprecations():
        return os.fork()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _end_openmp_threads() -> None:
    """End the idle threads that OpenMP keeps for this one; the next parallel region makes new ones.

    A copy has none of them and waits for them forever, unless it starts without any. Where it may use one
    thread alone, oneDNN hangs: its backward of a convolution is made for as many threads as torch tells of.

    Source: libgomp/team.c (gomp_pause_host) of GCC 9 and later, which torch's wheels bring.
    """
    with suppress(AttributeError):  # there is no OpenMP, or one that has no such threads
        ctypes.CDLL(None).omp_pause_resource_all(_OMP_PAUSE_SOFT)


def _ignores_deprecations() -> bool:
    """Whether a DeprecationWarning of this module is ignored, whatever its text and line are."""
    for action, text, category, module, line in warnings.filters:
        if issubclass(DeprecationWarning, category) and _is_of_this_module(module):
            if action != "ignore":
                return False
            if text is None and not line:
                return True
    return False


def _is_of_this_module(module: "re.Pattern[str] | str | None") -> bool:
    """Whether a filter is for this module; Python's own default ones have a name, no expression."""
    if module is None or isinstance(module, str):
        return module in (None, __name__)
    return module.match(__name__) is not None


def has_other_threads() -> bool:
    """Whether another thread of the program's runs Python code, so that values may change at any moment."""
    known = {threading.get_ident(), *(thread.ident for thread in _threads_that_change_nothing())}
    return any(ident not in known for ident in sys._current_frames())


def _threads_that_change_nothing() -> Iterator[threading.Thread]:
    """Threads that change no value: those that compile for Inductor, tqdm's, which looks at its bars, and
    those that carry the batches of a DataLoader.

    Source: torch/_inductor/async_compile.py (AsyncCompile.pool), torch/_inductor/compile_worker,
    torch/fx/interpreter.py (Interpreter.run, which makes a bar that is not shown),
    torch/utils/data/dataloader.py (_MultiProcessingDataLoaderIter), 2.8 to 2.15.
    """
    for each in threading.enumerate():
        if getattr(getattr(each, "_target", None), "__module__", None) in _CHANGE_NOTHING:
            yield each
    monitor = sys.modules.get("tqdm._monitor")
    if monitor is not None:
        yield from (each for each in threading.enumerate() if isinstance(each, monitor.TMonitor))
    inductor = sys.modules.get("torch._inductor.async_compile")
    if inductor is not None and inductor.AsyncCompile.pool.cache_info().currsize:
        yield from inductor.AsyncCompile.pool()._threads


def do_in_copy(work: Callable[[], None], kept: set[int]) -> None:
    """Start `work` in a copy of this process, which ends after it; of its files it has those in `kept`.

    Raises TimeoutError where what the program does at a fork (`os.register_at_fork`) hangs.
    """
    with _no_word_of_children():
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


@contextmanager
def _no_word_of_children() -> Iterator[None]:
    """While a child of ours ends: the program's handler of SIGCHLD is not called for it, but for its own.

    Only the main thread can see to that.
    """
    handler = signal.getsignal(signal.SIGCHLD)
    if handler in (None, signal.SIG_DFL) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, handler)
        with suppress(ChildProcessError):  # it has no child
            if callable(handler):
                if os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                    signal.raise_signal(signal.SIGCHLD)
            else:  # ignored: a child that ended is not waited for
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


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
        try:
            ended, status = os.waitpid(child, os.WNOHANG)
        except ChildProcessError:  # the program ignores SIGCHLD, so that nobody is told
            return 0
        if ended:
            return os.waitstatus_to_exitcode(status)
        if is_over():
            os.kill(child, signal.SIGKILL)
        time.sleep(seconds)
