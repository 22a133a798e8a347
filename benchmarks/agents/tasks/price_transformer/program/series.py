"""Random walks that stand for prices."""

import torch

LENGTH = 16


def make_series(count: int, seed: int) -> torch.Tensor:
    """Returns of each day, and their running sum (series, day, 2)."""
    returns = torch.randn(count, LENGTH, generator=torch.Generator().manual_seed(seed)) / 10
    return torch.stack([returns, returns.cumsum(dim=1)], dim=-1)
