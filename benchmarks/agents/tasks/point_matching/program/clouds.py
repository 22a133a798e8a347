"""Pairs of point clouds, of which one is the other in another order, with noise."""

from dataclasses import dataclass

import torch

POINTS = 10


@dataclass(frozen=True)
class Pair:
    """Two clouds, and for each point of the first its partner in the second."""

    first: torch.Tensor
    second: torch.Tensor
    partners: torch.Tensor
    noise: float


def make_pairs(count: int, seed: int) -> list[Pair]:
    """Pairs that become harder from one to the next."""
    generator = torch.Generator().manual_seed(seed)
    pairs = []
    for number in range(count):
        noise = 0.02 * (number + 1)
        first = torch.rand(POINTS, 2, generator=generator)
        order = torch.randperm(POINTS, generator=generator)
        moved = first + noise * torch.randn(POINTS, 2, generator=generator)
        pairs.append(Pair(first, moved[order], torch.argsort(order), noise))
    return pairs
