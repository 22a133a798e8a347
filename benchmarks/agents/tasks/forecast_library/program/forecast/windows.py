"""Series cut into windows."""

import torch


def windows_of(series: torch.Tensor, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """All windows of a length, and the value after each."""
    cut = series.unfold(0, length + 1, 1)
    return cut[:, :-1], cut[:, -1]
