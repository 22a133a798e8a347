"""A town's crossings and the roads between them."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Town:
    """Roads lead from `start` to `end`; both hold indices of crossings."""

    crossings: int
    start: torch.Tensor
    end: torch.Tensor


def make_town(crossings: int, seed: int) -> Town:
    """A ring of roads, and as many roads across it."""
    generator = torch.Generator().manual_seed(seed)
    ring = torch.arange(crossings)
    start = torch.cat([ring, torch.randint(crossings, (crossings,), generator=generator)])
    end = torch.cat([(ring + 1) % crossings, torch.randint(crossings, (crossings,), generator=generator)])
    return Town(crossings, start, end)


def make_traffic(town: Town, hours: int, seed: int) -> torch.Tensor:
    """Vehicles, speed and hour of each crossing at each hour."""
    generator = torch.Generator().manual_seed(seed + 50)
    return torch.rand(hours, town.crossings, 3, generator=generator)
