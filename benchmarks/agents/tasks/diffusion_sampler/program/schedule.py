"""How much of a sample is noise at a time between 0 and 1."""

import math
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class CosineSchedule:
    """The share of the signal falls as the square of a cosine."""

    offset: float = 0.008

    def signal(self, time: float) -> float:
        """The share of the signal in the variance."""
        angle = (time + self.offset) / (1 + self.offset) * math.pi / 2
        return max(math.cos(angle) ** 2, 1e-4)

    def times(self, steps: int) -> list[tuple[float, float]]:
        """Each step from a time to an earlier one."""
        grid = [1 - number / steps for number in range(steps + 1)]
        return list(pairwise(grid))
