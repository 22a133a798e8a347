"""The network that says how likely fraud is."""

import torch
from torch import nn
from transactions import FEATURES


class Detector(nn.Module):
    """One logit for each transaction."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(FEATURES)
        self.layers = nn.Sequential(
            nn.Linear(FEATURES, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1)
        )

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.layers(self.norm(features)).squeeze(1)
