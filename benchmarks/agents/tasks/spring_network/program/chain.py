"""A chain of masses with springs that grow stiffer when they are stretched."""

import torch

MASSES = 5


def make_states(count: int, seed: int) -> torch.Tensor:
    """Displacements of the masses."""
    return 0.5 * torch.randn(count, MASSES, generator=torch.Generator().manual_seed(seed))


def true_forces(places: torch.Tensor) -> torch.Tensor:
    """What the springs do to each mass; both ends of the chain are fixed to walls."""
    stretched = torch.diff(torch.nn.functional.pad(places, (1, 1)), dim=1)
    pull = stretched + 0.5 * stretched**3
    return pull[:, 1:] - pull[:, :-1]
