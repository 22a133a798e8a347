"""Pictures of leaves, drawn from their outline."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

SIZE = 12
SPECIES = 4


@dataclass(frozen=True)
class Leaves:
    """Pictures (leaf, 1, height, width), and the species of each."""

    images: torch.Tensor
    species: torch.Tensor

    def __len__(self) -> int:
        return len(self.species)


def make_leaves(count: int, seed: int) -> Leaves:
    """Leaves whose species differ in how long they are."""
    generator = torch.Generator().manual_seed(seed)
    species = torch.randint(SPECIES, (count,), generator=generator)
    axis = torch.linspace(-1, 1, SIZE)
    width = (0.2 + 0.2 * species)[:, None, None]
    outline = (axis[:, None] ** 2 + (axis[None, :] / width) ** 2 < 0.8).float()
    images = outline + 0.1 * torch.randn(count, SIZE, SIZE, generator=generator)
    return Leaves(images[:, None], species)


def batches(leaves: Leaves, size: int) -> Iterator[Leaves]:
    """All leaves, in batches of a size; the last may be smaller."""
    for begin in range(0, len(leaves), size):
        yield Leaves(leaves.images[begin : begin + size], leaves.species[begin : begin + size])
