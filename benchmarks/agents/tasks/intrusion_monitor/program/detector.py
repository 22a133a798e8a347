"""Scores connections by how unusual they are."""

import torch
from baseline import Baseline


class Detector:
    """Compares connections with the baseline, and then lets it learn from them."""

    def __init__(self, baseline: Baseline, limit: float = 2.0) -> None:
        self.baseline = baseline
        self.limit = limit
        self.inspect = torch.compile(self.scores)

    def scores(self, connections: torch.Tensor) -> torch.Tensor:
        """Root mean square of the deviations, in standard deviations."""
        deviation = (connections - self.baseline.mean) / self.baseline.variance.sqrt()
        scores = deviation.square().mean(dim=1).sqrt()
        self.baseline.update(connections)
        return scores

    def alarms(self, connections: torch.Tensor) -> torch.Tensor:
        """Which connections look like attacks."""
        return self.inspect(connections) > self.limit
