"""Soft clustering by rounds, until the centres stay where they are."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Clusters:
    """The centres that were found, and after how many rounds."""

    centres: torch.Tensor
    rounds: int


class Clustering:
    """Moves centres to the customers that are near them."""

    def __init__(self, clusters: int, softness: float = 0.5, most_rounds: int = 40) -> None:
        self.clusters = clusters
        self.softness = softness
        self.most_rounds = most_rounds
        self.round = torch.compile(self.moved)

    def moved(self, points: torch.Tensor, centres: torch.Tensor) -> tuple[torch.Tensor, bool]:
        """Centres after a round, and whether they stayed."""
        distances = (points[:, None] - centres[None]).square().sum(dim=-1)
        shares = torch.softmax(-distances / self.softness, dim=1)
        weights = shares.sum(dim=0).clamp(min=1e-6)
        means = shares.T @ points / weights[:, None]
        stayed = torch.allclose(means, centres, rtol=0, atol=1e-3)
        return means, stayed

    def fit(self, points: torch.Tensor) -> Clusters:
        """Clusters of points, from a start at the first of them."""
        centres, stayed, rounds = points[: self.clusters], False, 0
        while not stayed and rounds < self.most_rounds:
            centres, stayed = self.round(points, centres)
            rounds += 1
        return Clusters(centres, rounds)
