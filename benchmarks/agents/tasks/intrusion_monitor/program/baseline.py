"""What is usual, learned while connections come in."""

import threading

import torch
from traffic import FEATURES


class Baseline:
    """Running mean and variance of features, that threads may share."""

    def __init__(self, rate: float = 0.1) -> None:
        self.rate = rate
        self.mean = torch.zeros(FEATURES)
        self.variance = torch.ones(FEATURES)
        self.lock = threading.Lock()

    def update(self, connections: torch.Tensor) -> None:
        """Move towards what these connections have in common."""
        with self.lock:
            distance = connections.mean(dim=0) - self.mean
            self.mean = self.mean + self.rate * distance
            spread = (connections - self.mean).square().mean(dim=0)
            self.variance = (1 - self.rate) * self.variance + self.rate * spread
