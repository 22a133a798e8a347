"""Alarms from scores."""

from collections import defaultdict

import torch
from scoring import Scorer
from sensors import Reading


class Monitor:
    """Scores readings as they come, and remembers each sensor's highest score."""

    def __init__(self, threshold: float = 1.0) -> None:
        self.threshold = threshold
        self.score = torch.compile(Scorer())
        self.highest: dict[str, float] = defaultdict(float)
        self.alarms: list[tuple[str, float]] = []

    @torch.no_grad()
    def watch(self, reading: Reading) -> float:
        """The score of one window; a high one is an alarm."""
        window = torch.from_numpy(reading.values)
        score = self.score(window).item()
        self.highest[reading.sensor] = max(self.highest[reading.sensor], score)
        if score > self.threshold:
            self.alarms.append((reading.sensor, score))
        return score
