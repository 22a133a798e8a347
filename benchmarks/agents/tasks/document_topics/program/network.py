"""A shared network with an output layer for each kind of document."""

import torch
from documents import FEATURES, KINDS
from torch import nn


class SharedNetwork(nn.Module):
    """Gives probabilities of topics, of which each kind has its own meaning."""

    def __init__(self, width: int = 24, topics: int = 6) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(FEATURES, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.norm = nn.LayerNorm(width)
        self.heads = nn.ModuleList([nn.Linear(width, topics) for _ in KINDS])

    def forward(self, features: torch.Tensor, kind: int) -> torch.Tensor:
        hidden = self.norm(self.trunk(features))
        return torch.softmax(self.heads[kind](hidden), dim=-1)
