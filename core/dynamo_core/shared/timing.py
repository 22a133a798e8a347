"""Statistics of measurements: ratios of times with confidence intervals, and the load of the machine.

Ratios multiply, so their logarithms are averaged. From ten rounds on, a fifth of them at each end is trimmed:
a round that was disturbed by something else then counts little, whichever side it was. The interval is
Student's; for a trimmed mean it uses the winsorized deviation (Tukey and McLaughlin 1963; Wilcox,
Introduction to Robust Estimation and Hypothesis Testing, 4.3).

Source of the load: Linux, Documentation/scheduler/sched-stats.rst (/proc/PID/task/TID/schedstat: nanoseconds
on a processor, and in its queue), Documentation/accounting/psi.rst (/proc/pressure/cpu: microseconds in which
any task waited) and Documentation/filesystems/proc.rst (the first line of /proc/stat: ticks of all
processors, by kind).
"""

import os
import resource
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import cos, exp, log, pi, sin, sqrt, tan
from statistics import mean, stdev
from threading import get_native_id
from time import perf_counter, sleep
from typing import NamedTuple

from .quick_dataclass import dataclass

SHOWN = 0.95  # the confidence of intervals of whole runs in reports
SURE = 0.99  # the confidence for a decision: to end measuring early, or that a backend wins
_TRIMMED = 0.2
_LEAST_TO_TRIM = 10


@dataclass(frozen=True)
class Ratio:
    """The `estimate` of a ratio, and its interval, which is None for a single round."""

    estimate: float
    interval: tuple[float, float] | None
    rounds: int

    @property
    def differs(self) -> bool | None:
        """Whether the interval lies on one side of 1; None for a single round."""
        return None if self.interval is None else not self.interval[0] <= 1 <= self.interval[1]

    @property
    def low(self) -> float:
        """The lower end of the interval, 0 where there is none."""
        return 0.0 if self.interval is None else self.interval[0]

    def is_within(self, margin: float) -> bool:
        """Whether both take the same time, up to this share of it."""
        return self.interval is not None and self.low >= 1 - margin and self.interval[1] <= 1 + margin


def ratio_of(pairs: Sequence[tuple[float, float]], confidence: float = SHOWN) -> Ratio | None:
    """The ratio of the first time to the second, from (first, second) in each round; None without rounds."""
    ratios = sorted(log(first / second) for first, second in pairs if first > 0 and second > 0)
    count = len(ratios)
    if not count:
        return None
    trimmed = int(_TRIMMED * count) if count >= _LEAST_TO_TRIM else 0
    middle = ratios[trimmed : count - trimmed]
    centre = mean(middle)
    if count == 1:
        return Ratio(exp(centre), None, 1)
    winsorized = [middle[0]] * trimmed + middle + [middle[-1]] * trimmed
    reach = student_t(confidence, len(middle) - 1) * stdev(winsorized) * sqrt(count) / len(middle)
    return Ratio(exp(centre), (_exp(centre - reach), _exp(centre + reach)), count)


@lru_cache(maxsize=256)
def student_t(confidence: float, degrees: int) -> float:
    """The two-sided quantile of Student's t.

    Source of the probability: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    low, high = 0.0, pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        if _probability(angle, degrees) < confidence:
            low = angle
        else:
            high = angle
    return tan(low) * sqrt(degrees)


def _probability(angle: float, degrees: int) -> float:
    """The probability that |t| is at most tan(angle) times the root of its degrees of freedom."""
    is_odd = degrees % 2
    term = cos(angle) if is_odd else 1.0
    total = 0.0 if degrees == 1 else term
    for power in range(2 + is_odd, degrees - 1, 2):
        term *= cos(angle) ** 2 * (power - 1) / power
        total += term
    return 2 / pi * (angle + sin(angle) * total) if is_odd else sin(angle) * total


def _exp(value: float) -> float:
    """A bounded `exp`: the interval of two very different rounds would exceed what a float can be."""
    return exp(min(max(value, -700.0), 700.0))


_TASKS = "/proc/self/task"
_PRESSURE = "/proc/pressure/cpu"
# A thread that ran for a smaller share of the time counts as idle.
_TOOK_PART = 0.01
_LOOK_EVERY, _LONGEST_SPIN = 1e-3, 0.1  # seconds


@dataclass(frozen=True)
class Waiting:
    """How long threads waited for a processor in an interval.

    `seconds` is the sum over this process's threads, `threads` the number of those that were not idle.
    `pressure` is the share of the interval in which any task of the machine waited. None: it cannot be read.
    """

    seconds: float | None
    threads: int | None
    pressure: float | None


@dataclass(frozen=True)
class Moment:
    """The system's counters at a moment; `threads` has the time running and waiting, in ns, by thread."""

    at: float
    threads: Mapping[str, tuple[int, int]] | None
    pressure_us: int | None

    def until(self, later: "Moment") -> Waiting:
        """The waiting from this moment to a later one."""
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
    """The counters now. Reading takes some 0.1 ms, so call it outside of what is timed."""
    return Moment(perf_counter(), _threads(), pressure_us())


def settle() -> None:
    """Wait until this process's other threads are idle, at most a tenth of a second.

    OpenMP's threads spin for some milliseconds after the last parallel region, on processors that others
    need. Source: libgomp, GOMP_SPINCOUNT.
    """
    deadline = perf_counter() + _LONGEST_SPIN
    while _is_another_running() and perf_counter() < deadline:
        sleep(_LOOK_EVERY)


def _is_another_running() -> bool:
    """Whether another thread is on a processor, or waits for one; False where that is not known."""
    own = str(get_native_id())
    try:
        return any(_state(thread) == "R" for thread in os.listdir(_TASKS) if thread != own)
    except OSError:
        return False


def _state(thread: str) -> str:
    """A thread's state: one letter, the first after the name in brackets (proc(5), /proc/PID/stat)."""
    try:
        with open(f"{_TASKS}/{thread}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(") ")[2][:1]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def pressure_us() -> int | None:
    """Microseconds in which any task waited since boot; None where the kernel does not count it."""
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
            counts = scheduled_ns(f"{_TASKS}/{thread}")
            if counts is not None:
                found[thread] = counts
    except (OSError, ValueError):
        return None
    return found or None


def scheduled_ns(task: str) -> tuple[int, int] | None:
    """The time in ns that a thread or process, a folder of /proc, was running and waiting for a processor.

    None if it has just ended, or the kernel does not count; OSError or ValueError where it cannot be read.
    """
    try:
        with open(f"{task}/schedstat", encoding="ascii") as file:
            ran, waited, _ = file.read().split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(ran), int(waited)


_IDLE, _WAITING_FOR_DISKS, _GUEST = 3, 4, 8  # columns of /proc/stat; the user's time includes a guest's


@dataclass(frozen=True)
class Load:
    """How busy the machine was while a program ran.

    `others` is the share of all processors' time that was neither idle nor the program's; `waiting` the share
    of the time in which any task waited for a processor, the program's included. None: it cannot be read.
    """

    others: float | None = None
    waiting: float | None = None


class _Counters(NamedTuple):
    at: float
    ours: float
    ticks: tuple[int, ...] | None
    pressure_us: int | None


class LoadMeter:
    """Measures the load from its creation on, in the process that starts the program."""

    def __init__(self) -> None:
        self._before = _counters()

    def read(self) -> Load:
        """The load since the meter was made; the program's processes must have ended."""
        before, after = self._before, _counters()
        elapsed = max(after.at - before.at, 1e-9)
        others = None
        if before.ticks is not None and after.ticks is not None:
            spent = [b - a for a, b in zip(before.ticks, after.ticks, strict=True)][:_GUEST]
            ticks = os.sysconf("SC_CLK_TCK")
            busy = (sum(spent) - spent[_IDLE] - spent[_WAITING_FOR_DISKS]) / ticks
            others = max(0.0, busy - (after.ours - before.ours)) / max(sum(spent) / ticks, 1e-9)
        return Load(others, pressure_between(before.pressure_us, after.pressure_us, elapsed))


def _counters() -> _Counters:
    """The counters now; `ours` is the CPU time of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ours = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return _Counters(perf_counter(), ours, _ticks(), pressure_us())


def _ticks() -> tuple[int, ...] | None:
    try:
        with open("/proc/stat", encoding="ascii") as lines:
            name, *ticks = next(lines).split()
            return tuple(map(int, ticks)) if name == "cpu" else None
    except (OSError, ValueError, StopIteration):
        return None
