"""How unusual a window of readings is."""

import torch
from torch import nn


class Scorer(nn.Module):
    """Compares the halves of a window, and how rough it is; 0 is as usual as can be."""

    def __init__(self, widths: tuple[int, ...] = (4, 8, 16)) -> None:
        super().__init__()
        self.widths = widths

    def forward(self, window: torch.Tensor) -> torch.Tensor:
        values = window.float()
        values = (values - values.mean()) / (values.std() + 1e-6)
        first, second = values.chunk(2)
        jump = (first.mean() - second.mean()).abs()
        rough = torch.stack([self._roughness(values, width) for width in self.widths])
        return jump + rough.max() - rough.min()

    @staticmethod
    def _roughness(values: torch.Tensor, width: int) -> torch.Tensor:
        means = values.unfold(0, width, width).mean(dim=1)
        return torch.diff(means).abs().mean()
