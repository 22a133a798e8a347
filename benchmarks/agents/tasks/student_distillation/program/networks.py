"""A teacher, and a smaller student."""

import torch
from torch import nn

INPUTS, CLASSES = 10, 5


def make_network(width: int) -> nn.Module:
    """A network of two layers."""
    return nn.Sequential(nn.Linear(INPUTS, width), nn.ReLU(), nn.Linear(width, CLASSES))


def make_inputs(count: int, generator: torch.Generator) -> torch.Tensor:
    """Inputs, which need no labels."""
    return torch.randn(count, INPUTS, generator=generator)
