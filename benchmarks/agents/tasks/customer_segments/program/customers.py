"""Customers who fall into a few groups."""

import torch

GROUPS = 4


def make_customers(count: int, seed: int) -> torch.Tensor:
    """Orders, spending and age of an account, in units of their spread."""
    generator = torch.Generator().manual_seed(seed)
    centres = 4 * torch.randn(GROUPS, 3, generator=generator)
    group = torch.randint(GROUPS, (count,), generator=generator)
    return centres[group] + torch.randn(count, 3, generator=generator)
