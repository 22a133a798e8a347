"""Matching as a transport between two clouds, balanced by turns."""

import torch
from clouds import Pair


def iterations_for(noise: float) -> int:
    """How many times rows and columns are balanced, by how noisy a pair is."""
    return 4 + round(100 * noise)


class Matcher:
    """Finds how much of each point goes to each point of the other cloud."""

    def __init__(self, sharpness: float = 60.0) -> None:
        self.sharpness = sharpness
        self.transport = torch.compile(self.balanced)

    def balanced(self, first: torch.Tensor, second: torch.Tensor, iterations: int) -> torch.Tensor:
        """Shares that sum to one in each row, and nearly so in each column."""
        logits = -self.sharpness * (first[:, None] - second[None]).square().sum(dim=-1)
        for _ in range(iterations):
            logits = logits - torch.logsumexp(logits, dim=0, keepdim=True)
            logits = logits - torch.logsumexp(logits, dim=1, keepdim=True)
        return logits.exp()

    def match(self, pair: Pair) -> torch.Tensor:
        return self.transport(pair.first, pair.second, iterations_for(pair.noise))
