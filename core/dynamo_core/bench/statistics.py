"""The speed-up over eager from pairs of runs, and how sure it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import mean, stdev

# Student's t for 95 %, two-sided, by degrees of freedom from 1.
_T_95 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)
_NORMAL_95 = 1.959964


@dataclass(frozen=True)
class SpeedUp:
    """How many times as fast: the geometric mean over `rounds`, and its 95 % confidence interval.

    There is no interval (None) from one round.
    """

    mean: float
    interval: tuple[float, float] | None
    rounds: int

    @property
    def is_told(self) -> bool | None:
        """Whether the interval tells that it is faster, or slower, than eager; None from one round."""
        return None if self.interval is None else not self.interval[0] <= 1 <= self.interval[1]


def speed_up(pairs: Sequence[tuple[float, float]]) -> SpeedUp | None:
    """From (time of eager, time of the other) in each round; None without any.

    Ratios multiply, so their logarithms are averaged; the interval takes those to be normally distributed.
    """
    ratios = [log(eager / other) for eager, other in pairs if eager > 0 and other > 0]
    if not ratios:
        return None
    centre = mean(ratios)
    if len(ratios) == 1:
        return SpeedUp(exp(centre), None, 1)
    reach = student_t_95(len(ratios) - 1) * stdev(ratios) / sqrt(len(ratios))
    return SpeedUp(exp(centre), (exp(centre - reach), exp(centre + reach)), len(ratios))


def student_t_95(degrees: int) -> float:
    """The two-sided 95 % quantile of Student's t; past the table by expansion, to four digits.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5.
    """
    if degrees <= len(_T_95):
        return _T_95[degrees - 1]
    z = _NORMAL_95
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / degrees + second / degrees**2


def break_even_steps(compile_seconds: float | None, eager: float | None, other: float | None) -> int | None:
    """After how many steps compiling has paid; None where a step is not faster, or something is unknown."""
    if compile_seconds is None or eager is None or other is None or other >= eager:
        return None
    return max(1, round(compile_seconds / (eager - other)))
