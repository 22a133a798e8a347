"""Moons around a planet that is much heavier."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Moons:
    """Places and speeds of moons in a plane, the planet at the origin."""

    places: torch.Tensor
    speeds: torch.Tensor


def make_moons(count: int, seed: int) -> Moons:
    """Moons on nearly circular orbits."""
    generator = torch.Generator().manual_seed(seed)
    angles = 6.28318 * torch.rand(count, generator=generator)
    radii = 1 + torch.rand(count, generator=generator)
    speeds = radii.rsqrt() * (0.95 + 0.1 * torch.rand(count, generator=generator))
    direction = torch.stack([torch.cos(angles), torch.sin(angles)], dim=1)
    across = torch.stack([-direction[:, 1], direction[:, 0]], dim=1)
    return Moons(radii[:, None] * direction, speeds[:, None] * across)


def pull(places: torch.Tensor) -> torch.Tensor:
    """The acceleration towards the planet."""
    distance = places.square().sum(dim=1, keepdim=True).sqrt()
    return -places / distance**3
