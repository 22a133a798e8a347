"""The ranks of a distributed run beside each other: who differs first, where, and who waits for whom."""

from .clocks import HostClock
from .comparison import RankRow, Ranks, compare_ranks
from .compile_waits import CompileWait, CompileWaits, TimedCompile, Waiting
from .late_ranks import LateRank
from .steps import Difference, Side
from .waiting import Wait

__all__ = [
    "CompileWait",
    "CompileWaits",
    "Difference",
    "HostClock",
    "LateRank",
    "RankRow",
    "Ranks",
    "Side",
    "TimedCompile",
    "Wait",
    "Waiting",
    "compare_ranks",
]
