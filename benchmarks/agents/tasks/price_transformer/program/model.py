"""A transformer with normalisation before each block."""

import torch
from attention import CausalAttention
from torch import nn


def normalised(values: torch.Tensor) -> torch.Tensor:
    """Values of mean zero and variance one, over the last axis."""
    return nn.LayerNorm(values.shape[-1])(values)


class Layer(nn.Module):
    """Attention and a feed-forward block, each added to what came in."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = CausalAttention(width, heads)
        self.wide = nn.Linear(width, 2 * width)
        self.narrow = nn.Linear(2 * width, width)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        values = values + self.attention(normalised(values))
        return values + self.narrow(nn.functional.gelu(self.wide(normalised(values))))


class PriceTransformer(nn.Module):
    """Predicts the next return of each series."""

    def __init__(self, width: int = 16, heads: int = 2, layers: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Linear(2, width)
        self.layers = nn.ModuleList([Layer(width, heads) for _ in range(layers)])
        self.output = nn.Linear(width, 1)

    def forward(self, series: torch.Tensor) -> torch.Tensor:
        values = self.embedding(series)
        for layer in self.layers:
            values = layer(values)
        return self.output(normalised(values)[:, -1]).squeeze(-1)
