"""The ranks of a distributed run beside each other: who differs first, where, and who waits for whom."""

from .comparison import RankRow, Ranks, compare_ranks
from .steps import Difference, Side
from .waiting import Wait

__all__ = ["Difference", "RankRow", "Ranks", "Side", "Wait", "compare_ranks"]
