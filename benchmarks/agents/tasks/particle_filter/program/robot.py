"""A robot that moves in a hall, and measures how far it is from beacons."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

BEACONS = torch.tensor([[0.0, 0.0], [10.0, 0.0], [5.0, 9.0]])


@dataclass(frozen=True)
class Observation:
    """How the robot was told to move, what it measured, and where it is, which the filter does not know."""

    motion: torch.Tensor
    distances: torch.Tensor
    position: torch.Tensor


def walk(steps: int, seed: int) -> Iterator[Observation]:
    """A walk in a circle, with slips and noise."""
    generator = torch.Generator().manual_seed(seed)
    position = torch.tensor([5.0, 2.0])
    for number in range(steps):
        angle = torch.tensor(0.25 * number)
        motion = 0.6 * torch.stack([torch.cos(angle), torch.sin(angle)])
        position = position + motion + 0.05 * torch.randn(2, generator=generator)
        noise = 0.1 * torch.randn(len(BEACONS), generator=generator)
        distances = (BEACONS - position).norm(dim=1) + noise
        yield Observation(motion, distances, position)
