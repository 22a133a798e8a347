"""A crane with a load on a rope."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Load:
    """Where a load is to go, in metres, and how long the rope is."""

    target: float
    rope: float


def make_loads(count: int, seed: int) -> list[Load]:
    """Loads for targets between one and four metres away."""
    drawn = torch.rand(count, 2, generator=torch.Generator().manual_seed(seed)).tolist()
    return [Load(round(1 + 3 * far, 2), round(2 + long, 2)) for far, long in drawn]


def positions(pushes: torch.Tensor) -> torch.Tensor:
    """Where the trolley is after each push, by plan (plan, time)."""
    speed = pushes.cumsum(dim=1)
    return 0.5 * speed.cumsum(dim=1)
