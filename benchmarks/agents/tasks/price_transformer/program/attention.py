"""Attention that looks back only."""

import torch
from torch import nn


class CausalAttention(nn.Module):
    """Attention of each day to itself and the days before."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.inputs = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        series, days, width = values.shape
        parts = self.inputs(values).view(series, days, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.output(mixed.transpose(1, 2).reshape(series, days, width))
