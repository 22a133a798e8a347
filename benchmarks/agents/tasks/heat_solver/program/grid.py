"""A plate with hot places, and its material."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Plate:
    """Temperatures on a grid, and how fast heat moves at each point."""

    temperature: torch.Tensor
    diffusivity: torch.Tensor


def make_plate(size: int, seed: int) -> Plate:
    """Three hot squares on a cold plate of uneven material."""
    generator = torch.Generator().manual_seed(seed)
    temperature = torch.zeros(size, size)
    for corner in torch.randint(2, size - 8, (3, 2), generator=generator).tolist():
        temperature[corner[0] : corner[0] + 6, corner[1] : corner[1] + 6] += 50.0
    diffusivity = 0.1 + 0.1 * torch.rand(size, size, generator=generator)
    return Plate(temperature, diffusivity)
