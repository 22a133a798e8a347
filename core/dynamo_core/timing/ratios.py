"""How many times as long one thing takes as another, by rounds in which both were timed; and how sure it is.

Ratios multiply, so their logarithms are averaged. From ten rounds on, the fifth of them at each end is
trimmed: a round that met something else in the machine then counts little, whichever side met it. The
interval is Student's; of a trimmed mean it rests on the winsorized deviation (Tukey and McLaughlin 1963;
Wilcox, Introduction to Robust Estimation and Hypothesis Testing, 4.3).
"""

from collections.abc import Sequence
from functools import lru_cache
from math import cos, exp, log, pi, sin, sqrt, tan
from statistics import mean, stdev

from ..shared.quick_dataclass import dataclass

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
    """Of the first time to the second, from (first, second) in each round; None without any."""
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
    """That |t| is no more than tan(angle) times the root of its degrees of freedom."""
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
