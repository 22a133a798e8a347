"""The ranks of a distributed run beside each other: who differs first, where, and who waits for whom."""

from .compare import RankRow, Ranks, compare_ranks
from .compile_waits import CompileWait, CompileWaits, HostClock, TimedCompile, Waiting
from .gradients import GradientsOfRank, who_came_last
from .members import Difference, Side
from .waiting import LateRank, Wait

__all__ = [
    "CompileWait",
    "CompileWaits",
    "Difference",
    "GradientsOfRank",
    "HostClock",
    "LateRank",
    "RankRow",
    "Ranks",
    "Side",
    "TimedCompile",
    "Wait",
    "Waiting",
    "compare_ranks",
    "who_came_last",
]
