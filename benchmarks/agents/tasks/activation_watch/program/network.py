"""A network of three layers for a regression."""

import torch
from torch import nn

INPUTS = 6


class Network(nn.Module):
    """Two hidden layers with rectifiers."""

    def __init__(self, width: int = 20) -> None:
        super().__init__()
        self.first = nn.Linear(INPUTS, width)
        self.bend = nn.ReLU()
        self.second = nn.Linear(width, width)
        self.fold = nn.ReLU()
        self.output = nn.Linear(width, 1)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        hidden = self.bend(self.first(inputs))
        return self.output(self.fold(self.second(hidden))).squeeze(1)


def make_samples(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs, and the distance of each from the origin."""
    inputs = torch.randn(count, INPUTS, generator=torch.Generator().manual_seed(seed))
    return inputs, inputs.norm(dim=1)
