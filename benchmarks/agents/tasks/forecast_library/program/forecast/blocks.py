"""Parts that the model is made of."""

import torch
from torch import nn


class WarmingNoise(nn.Module):
    """Shrinks its input while training begins, so that the first steps are small."""

    def __init__(self, steps: int = 20) -> None:
        super().__init__()
        self.steps = steps
        self.done = 0

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return values
        self.done += 1
        return values * min(1.0, self.done / self.steps)


class GatedLayer(nn.Module):
    """A dense layer with a gate, added to its input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.value = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return values + torch.tanh(self.value(values)) * torch.sigmoid(self.gate(values))
