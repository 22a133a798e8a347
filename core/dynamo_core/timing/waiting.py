"""How long the threads of this process waited for a processor, and how much any waited in the whole machine.

Source: Linux, Documentation/scheduler/sched-stats.rst (/proc/PID/task/TID/schedstat: nanoseconds on a
processor, and in its queue) and Documentation/accounting/psi.rst (/proc/pressure/cpu: microseconds in which
any task waited).
"""

import os
from collections.abc import Mapping
from threading import get_native_id
from time import perf_counter, sleep

from ..shared.quick_dataclass import dataclass

_TASKS = "/proc/self/task"
_PRESSURE = "/proc/pressure/cpu"
# A thread that was on a processor for less than this share of the time took no part.
_TOOK_PART = 0.01
_LOOK_EVERY, _LONGEST_SPIN = 1e-3, 0.1  # seconds


@dataclass(frozen=True)
class Waiting:
    """In an interval: `seconds` that this process's threads waited, summed, and how many `threads` took part.

    `pressure` is the share of it in which any task of the machine waited. None is what cannot be read.
    """

    seconds: float | None
    threads: int | None
    pressure: float | None


@dataclass(frozen=True)
class Moment:
    """The system's counters at a moment; `threads` has (on a processor, waiting) in ns, by thread."""

    at: float
    threads: Mapping[str, tuple[int, int]] | None
    pressure_us: int | None

    def until(self, later: "Moment") -> Waiting:
        """What happened from this moment to a later one."""
        elapsed = max(later.at - self.at, 1e-9)
        pressure = pressure_between(self.pressure_us, later.pressure_us, elapsed)
        if self.threads is None or later.threads is None:
            return Waiting(None if pressure is None else pressure * elapsed, None, pressure)
        waited, took_part = 0, 0
        for thread, (ran_after, waited_after) in later.threads.items():
            ran_before, waited_before = self.threads.get(thread, (0, 0))
            waited += waited_after - waited_before
            took_part += ran_after - ran_before > _TOOK_PART * elapsed * 1e9
        return Waiting(waited / 1e9, took_part, pressure)


def now() -> Moment:
    """Reading takes some 0.1 ms: it stands before and after what is timed."""
    return Moment(perf_counter(), _threads(), pressure_us())


def settle() -> None:
    """Return when this process's other threads are off the processors, or after a moment.

    OpenMP's spin for some milliseconds after the last parallel region, on processors that others need.
    Source: libgomp, GOMP_SPINCOUNT.
    """
    deadline = perf_counter() + _LONGEST_SPIN
    while _is_another_running() and perf_counter() < deadline:
        sleep(_LOOK_EVERY)


def _is_another_running() -> bool:
    """Whether a thread beside this one is on a processor, or waits for one; False where that is not known."""
    own = str(get_native_id())
    try:
        return any(_state(thread) == "R" for thread in os.listdir(_TASKS) if thread != own)
    except OSError:
        return False


def _state(thread: str) -> str:
    """In one letter, the first behind the name, which is in brackets (proc(5), /proc/PID/stat)."""
    try:
        with open(f"{_TASKS}/{thread}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(") ")[2][:1]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def pressure_us() -> int | None:
    """Since the machine started; None where the kernel does not count it."""
    try:
        with open(_PRESSURE, encoding="ascii") as lines:
            return int(next(lines).rpartition("total=")[2])
    except (OSError, ValueError, StopIteration):
        return None


def pressure_between(before_us: int | None, after_us: int | None, elapsed: float) -> float | None:
    """The share of the `elapsed` seconds between two readings of `pressure_us`."""
    if before_us is None or after_us is None:
        return None
    return min(1.0, (after_us - before_us) / 1e6 / elapsed)


def _threads() -> dict[str, tuple[int, int]] | None:
    found = {}
    try:
        for thread in os.listdir(_TASKS):
            counts = _counts(thread)
            if counts is not None:
                found[thread] = counts
    except (OSError, ValueError):
        return None
    return found or None


def _counts(thread: str) -> tuple[int, int] | None:
    """None of a thread that has just ended, or where the kernel does not count."""
    try:
        with open(f"{_TASKS}/{thread}/schedstat", encoding="ascii") as file:
            ran, waited, _ = file.read().split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(ran), int(waited)
