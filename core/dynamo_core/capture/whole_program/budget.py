"""Compile no more than the program's own running time can pay for, plus an allowance.

How often a frame will be called cannot be known. So a frame waits while compiling has taken longer than the
program without it, by more than the allowance: whatever the program does, capture then costs at most about as
much as the program itself, plus the allowance and one compile. A frame that has waited is asked about again
when it is called again.

Time is CPU time of this process, which does not depend on what else the machine does. What Inductor's own
processes take for C++ is not in it; it is about as much again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType

from ...shared.early_records import FramePutOff
from ..primitives import process_time_ns, thread_time_ns
from ..writing.occurrences import Occurrences
from ..writing.stream import Stream


class Budget:
    """The CPU time that compiling has taken, on all threads, beside that of the whole process."""

    def __init__(self, allowance: float | None, stream: Stream) -> None:
        self._allowance_ns = None if allowance is None else int(allowance * 1e9)
        self._began_ns = process_time_ns()
        self._spent_ns = 0
        self._put_off = Occurrences(stream, FramePutOff)

    @contextmanager
    def spending(self) -> Iterator[None]:
        """What happens in here is compiling."""
        began_ns = thread_time_ns()
        try:
            yield
        finally:
            self._spent_ns += thread_time_ns() - began_ns

    def puts_off(self, code: CodeType) -> bool:
        """Whether a frame has to wait, which is recorded."""
        if self._allowance_ns is None or self._spent_ns <= self._allowance_ns:
            return False
        if 2 * self._spent_ns <= self._allowance_ns + process_time_ns() - self._began_ns:
            return False
        where = {"name": code.co_name, "file": code.co_filename, "line": code.co_firstlineno}
        self._put_off.add(tuple(where.values()), lambda: where)
        return True

    def finish(self) -> None:
        """The process ends: write the counts that are not written yet."""
        self._put_off.finish()
