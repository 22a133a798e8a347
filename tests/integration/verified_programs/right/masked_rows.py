"""Rows of an attention of which nothing is left are no numbers in both, and are replaced."""

import math

import torch


@torch.compile
def attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return torch.nan_to_num(weights) @ value


torch.manual_seed(0)
query, key, value = torch.randn(3, 2, 2, 4, 8).unbind(0)
mask = torch.ones(4, 4, dtype=torch.bool).tril(-1)
print(attention(query, key, value, mask)[..., 0, :].abs().sum())
