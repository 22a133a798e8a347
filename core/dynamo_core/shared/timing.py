"""How many times as long one thing takes as another, by rounds in which both were timed; and how sure it is.

Ratios multiply, so their logarithms are averaged. From ten rounds on, the fifth of them at each end is
trimmed: a round that met something else in the machine then counts little, whichever side met it. The
interval is Student's; of a trimmed mean it rests on the winsorized deviation (Tukey and McLaughlin 1963;
Wilcox, Introduction to Robust Estimation and Hypothesis Testing, 4.3).
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

SHOWN = 0.95  # the confidence of the intervals that a page shows of whole runs
SURE = 0.99  # of those by which measuring ends early, or a backend wins
_TRIMMED = 0.2
_LEAST_TO_TRIM = 10


@dataclass(frozen=True)
class Ratio:
    """The `estimate`, and its interval, which is None from one round. `rounds` counts those behind it."""

    estimate: float
    interval: tuple[float, float] | None
    rounds: int

    @property
    def differs(self) -> bool | None:
        """Whether the interval lies on one side of 1; None from one round."""
        return None if self.interval is None else not self.interval[0] <= 1 <= self.interval[1]

    @property
    def low(self) -> float:
        """The end of the interval, 0 where there is none."""
        return 0.0 if self.interval is None else self.interval[0]

    def is_within(self, margin: float) -> bool:
        """Whether the two take the same time but for this share of it."""
        return self.interval is not None and self.low >= 1 - margin and self.interval[1] <= 1 + margin


def ratio_of(pairs: Sequence[tuple[float, float]], confidence: float = SHOWN) -> Ratio | None:
    """The ratio of the first time to the second, from (first, second) in each round; None without rounds."""
    ratios = sorted(log(first / second) for first, second in pairs if first > 0 and second > 0)
    count = len(ratios)
    if not count:
        return None
    trimmed = int(_TRIMMED * count) if count >= _LEAST_TO_TRIM else 0
    kept = ratios[trimmed : count - trimmed]
    centre = mean(kept)
    if count == 1:
        return Ratio(exp(centre), None, 1)
    winsorized = [kept[0]] * trimmed + kept + [kept[-1]] * trimmed
    reach = student_t(confidence, len(kept) - 1) * stdev(winsorized) * sqrt(count) / len(kept)
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
    """Bounded: the interval of two rounds that differ by a lot is beyond what a float can be."""
    return exp(min(max(value, -700.0), 700.0))


# How long the threads of this process waited for a processor, and how much any waited in the whole machine.
#
# Source: Linux, Documentation/scheduler/sched-stats.rst (/proc/PID/task/TID/schedstat: nanoseconds on a
# processor, and in its queue) and Documentation/accounting/psi.rst (/proc/pressure/cpu: microseconds in which
# any task waited).


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


# How busy the machine was with something else while a program ran, seen from the process that started it.
#
# Source: Linux, Documentation/filesystems/proc.rst (the first line of /proc/stat: ticks of all processors, by
# what they did).


_IDLE, _WAITING_FOR_DISKS, _GUEST = 3, 4, 8  # columns; a guest's time stands in the user's as well


@dataclass(frozen=True)
class Load:
    """`others` is the share of all processors' time that was not idle and not the program's.

    `waiting` is the share of the time in which something waited for a processor, the program perhaps. None is
    what cannot be read.
    """

    others: float | None = None
    waiting: float | None = None


class _Counters(NamedTuple):
    at: float
    ours: float
    ticks: tuple[int, ...] | None
    pressure_us: int | None


class LoadMeter:
    """Counts from when it is made."""

    def __init__(self) -> None:
        self._before = _counters()

    def read(self) -> Load:
        """The load since then; the program's processes must have ended."""
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
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ours = sum(each.ru_utime + each.ru_stime for each in used)
    return _Counters(perf_counter(), ours, _ticks(), pressure_us())


def _ticks() -> tuple[int, ...] | None:
    try:
        with open("/proc/stat", encoding="ascii") as lines:
            name, *ticks = next(lines).split()
            return tuple(map(int, ticks)) if name == "cpu" else None
    except (OSError, ValueError, StopIteration):
        return None
