"""A budget for compiling captured frames: frames wait while compiling has cost more than the program."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from ...shared.early_records import FrameDeferred
from ..primitives import O_CLOEXEC, O_RDONLY, close, open_descriptor, process_time_ns, read, thread_time_ns
from ..writing.occurrences import Occurrences
from ..writing.stream import Stream

# CPU time that a backend takes for each op of a graph, until it is measured: Inductor with its C++ compiler.
_SECONDS_FOR_AN_OP = 0.1
_FEWEST_OPS_MEASURED = 20  # of one graph: smaller ones are mostly what each compile takes besides


class CompileDeferred(BaseException):
    """A graph would take longer to compile than may be spent now. No Exception: no backend handles it."""


class Budget:
    """Defers frames while compiling has cost more CPU time than the program itself, plus an allowance.

    How often a frame will be called cannot be known. With this rule, capture costs at most about as much as
    the program itself, plus the allowance. A deferred frame is considered again at its next call. The cost of
    a graph is estimated by its ops, with what an op has cost so far in this process; where that is more than
    may be spent now, its frame is deferred before the backend is called.

    A backward that is compiled when it is first called counts as well, and is not deferred.

    Time is CPU time of this process, on all threads, and of the processes that compile for Inductor. It does
    not depend on the machine's other load.
    """

    def __init__(self, allowance: float | None, stream: Stream) -> None:
        self._allowance_ns = None if allowance is None else int(allowance * 1e9)
        self._began_ns = process_time_ns()
        self._spent_ns, self._spent_by_others_ns = 0, 0
        self._ops_compiled, self._backend_ns = 0, 0
        self._estimates: dict[int, tuple[CodeType, int]] = {}  # by the id of the code, which is kept alive
        self._deferred = Occurrences(stream, FrameDeferred)

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Count as spent this thread's CPU time in this context."""
        began_ns = thread_time_ns()
        try:
            yield
        finally:
            self._spent_ns += thread_time_ns() - began_ns

    @contextmanager
    def _spending_by_others(self) -> Iterator[None]:
        """Count as spent what the processes that compile for Inductor take in this context."""
        began_ns = compile_processes_ns()
        try:
            yield
        finally:
            self._spent_by_others_ns += max(0, compile_processes_ns() - began_ns)

    def defers(self, code: CodeType) -> bool:
        """Whether a frame is deferred, with all that it calls; if so, that is recorded."""
        return self._exceeds(0) and self._deferred_now(code)

    def is_too_large(self, code: CodeType) -> bool:
        """Whether a frame is deferred for the size of its graph; if so, that is recorded.

        What it calls may be compiled meanwhile.
        """
        _, estimate_ns = self._estimates.get(id(code), (code, 0))
        return self._exceeds(estimate_ns) and self._deferred_now(code)

    def _deferred_now(self, code: CodeType) -> bool:
        where = {"name": code.co_name, "file": code.co_filename, "line": code.co_firstlineno}
        self._deferred.add(tuple(where.values()), lambda: where)
        return True

    def call_backend(self, code: CodeType, ops: int, call: Callable[[], Any]) -> Any:
        """The result of `call`, which compiles a graph of a frame; the time of Inductor's processes is spent.

        CompileDeferred if that would take longer than may be spent now.
        """
        estimate_ns = int(ops * self._ns_for_an_op())
        if self._exceeds(estimate_ns):
            self._estimates[id(code)] = code, estimate_ns
            raise CompileDeferred(f"compiling its graph of {ops} ops would take longer than it may now")
        began_ns, others_ns = thread_time_ns(), self._spent_by_others_ns
        try:
            with self._spending_by_others():
                return call()
        finally:
            if ops >= _FEWEST_OPS_MEASURED:
                self._ops_compiled += ops
                self._backend_ns += thread_time_ns() - began_ns + self._spent_by_others_ns - others_ns

    def compile_backward(self, call: Callable[[], Any]) -> Any:
        """The result of `call`, which compiles a backward at its first call; what that takes is spent."""
        with self.spending(), self._spending_by_others():
            return call()

    def _ns_for_an_op(self) -> float:
        if not self._ops_compiled:
            return _SECONDS_FOR_AN_OP * 1e9
        return self._backend_ns / self._ops_compiled

    def _exceeds(self, estimate_ns: int) -> bool:
        """Whether compiling would have cost too much, with what is still to be spent."""
        if self._allowance_ns is None:
            return False
        program_ns = process_time_ns() - self._began_ns - self._spent_ns
        spent_ns = self._spent_ns + self._spent_by_others_ns + estimate_ns
        return spent_ns > self._allowance_ns + max(0, program_ns)

    def finish(self) -> None:
        """Write the counts that are not written yet, when the process ends."""
        self._deferred.finish()


_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_LONGEST = 1 << 16  # bytes of a file in /proc that are read
_COMPILE_WORKER = b"torch/_inductor/compile_worker"


def compile_processes_ns() -> int:
    """The CPU time of the processes that compile for this one, those that have ended included, in ns.

    Those are Inductor's workers, and compilers that this process has started itself. Source: proc(5)
    (/proc/PID/task/TID/children, /proc/PID/stat); torch/_inductor/compile_worker/subproc_pool.py. Without
    /proc, only what this process has started itself counts.
    """
    own = os.times()
    total = int((own.children_user + own.children_system) * 1e9)
    for child in _children("self"):
        if _COMPILE_WORKER in _content(f"/proc/{child}/cmdline"):
            total += _tree_ns(child)
    return total


def _tree_ns(process: str) -> int:
    fields = _content(f"/proc/{process}/stat").rpartition(b")")[2].split()
    ticks = sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
    return ticks * _TICK_NS + sum(map(_tree_ns, _children(process)))


def _children(process: str) -> list[str]:
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return []
    listed = (_content(f"/proc/{process}/task/{thread}/children") for thread in threads)
    return [child for each in listed for child in each.decode().split()]


def _content(path: str) -> bytes:
    try:
        file = open_descriptor(path, O_RDONLY | O_CLOEXEC)
    except OSError:  # it has ended
        return b""
    try:
        return read(file, _LONGEST)
    except OSError:
        return b""
    finally:
        close(file)
