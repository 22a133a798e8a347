"""What the filter believes."""

from dataclasses import dataclass

import torch


@dataclass
class Belief:
    """Positions, and how likely each is."""

    positions: torch.Tensor
    weights: torch.Tensor

    def mean(self) -> torch.Tensor:
        return (self.weights.unsqueeze(1) * self.positions).sum(dim=0)

    def effective_count(self) -> torch.Tensor:
        """How many particles the weights are worth."""
        return 1.0 / self.weights.square().sum()


def scattered(count: int, seed: int) -> Belief:
    """Particles all over the hall."""
    generator = torch.Generator().manual_seed(seed + 100)
    return Belief(10.0 * torch.rand(count, 2, generator=generator), torch.full((count,), 1.0 / count))
