"""How busy the machine was with something else while a program ran, seen from the process that started it.

Source: Linux, Documentation/filesystems/proc.rst (the first line of /proc/stat: ticks of all processors, by
what they did).
"""

import os
import resource
from time import perf_counter
from typing import NamedTuple

from ..shared.quick_dataclass import dataclass
from .waiting import pressure_between, pressure_us

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
    """Of now; `ours` is the time on processors of this process and of its children that have ended."""
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
