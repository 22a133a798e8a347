"""How often and how long compiled graphs ran, in the host's time."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from ..shared.quick_dataclass import dataclass


class CallSample(NamedTuple):
    """One call of a compiled graph: which (from 1), when (nanoseconds since the epoch), how long.

    `since_previous` is the time since the call before it, of the callable with index `previous`, had ended;
    None where that is not known, or something was compiled in between.
    """

    number: int
    began_ns: int
    seconds: float
    since_previous: float | None = None
    previous: int | None = None


@dataclass(frozen=True)
class CallTimes:
    """The calls of a compiled graph, or of its backward, in the host's time.

    `histogram` counts them by duration: (from, to) in nanoseconds. `early` are the first ones, `samples` some
    of all, evenly spread. `guard_seconds` is what evaluating the frame's guards took, on average, and
    `device_seconds` what a call took on the GPU's stream, on average over `device_samples` of them. `raised`
    calls ended in an error; one that has not returned, `running_since_ns`, is in none of the counts. Of a
    graph whose calls are short, `untimed` of them were counted only: `seconds` is then extrapolated from the
    others, which are those in the histogram, and the running one began at `running_since_ns` or later.
    """

    calls: int
    seconds: float
    histogram: Mapping[tuple[int, int], int]
    early: tuple[CallSample, ...]
    samples: tuple[CallSample, ...]
    guard_seconds: float | None
    device_seconds: float | None = None
    device_samples: int = 0
    running_since_ns: int | None = None
    raised: int = 0
    untimed: int = 0
    is_running_since_exact: bool = True

    @property
    def guard_seconds_in_all(self) -> float | None:
        """What the guards took for all calls; None where no evaluation was timed."""
        return None if self.guard_seconds is None else self.calls * self.guard_seconds

    def percentile(self, share: float) -> float | None:
        """Seconds below which this share (0 to 1) of the calls lies; None if none is timed.

        Exact where every timed call was noted by itself, else from the histogram, to within 6 %.
        """
        timed = self.calls - self.untimed
        wanted = share * timed
        if 0 < timed <= len(self.early):
            return sorted(call.seconds for call in self.early)[max(0, math.ceil(wanted) - 1)]
        for (low, high), count in sorted(self.histogram.items()):
            wanted -= count
            if wanted <= 0:
                return (low + high) / 2e9
        return None
