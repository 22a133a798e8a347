"""Pages on which advertisements are shown."""

from collections.abc import Iterator

import torch

COLUMNS = ["topic", "country", "device", "hour", "length"]


def make_pages(count: int, seed: int) -> Iterator[torch.Tensor]:
    """Values of the columns of each page, between 0 and 1."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        yield torch.rand(len(COLUMNS), generator=generator)


def make_adverts(count: int, seed: int) -> torch.Tensor:
    """Six properties of each advertisement."""
    return torch.randn(count, 6, generator=torch.Generator().manual_seed(seed + 100))
