"""A network that predicts the noise in a sample."""

import math

import torch
from torch import nn


class Denoiser(nn.Module):
    """Two layers, and a few waves that tell the time."""

    def __init__(self, size: int = 2, width: int = 24, waves: int = 4) -> None:
        super().__init__()
        self.waves = waves
        self.first = nn.Linear(size + 2 * waves, width)
        self.second = nn.Linear(width, size)

    def forward(self, sample: torch.Tensor, time: float) -> torch.Tensor:
        phases = [math.pi * 2**number * time for number in range(self.waves)]
        waves = [wave(phase) for phase in phases for wave in (math.sin, math.cos)]
        features = sample.new_tensor(waves).expand(len(sample), -1)
        hidden = nn.functional.silu(self.first(torch.cat([sample, features], dim=1)))
        return self.second(hidden)
