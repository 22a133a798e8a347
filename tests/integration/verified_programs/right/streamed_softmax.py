"""A softmax that is computed in parts, each part scaled again by the largest number so far."""

import torch


def streamed(scores, values):
    top = torch.full(scores.shape[:-1], float("-inf"))
    total = torch.zeros(scores.shape[:-1])
    result = torch.zeros(*scores.shape[:-1], values.shape[-1])
    for part, value in zip(scores.split(4, dim=-1), values.split(4), strict=True):
        new = torch.maximum(top, part.amax(dim=-1))
        kept, weights = torch.exp(top - new), torch.exp(part - new[..., None])
        total = total * kept + weights.sum(dim=-1)
        result = result * kept[..., None] + weights @ value
        top = new
    return result / total[..., None]


torch.manual_seed(0)
scores, values = torch.randn(6, 16) * 8, torch.randn(16, 4)
given = torch.compile(streamed)(scores, values)
print(torch.allclose(given, torch.softmax(scores, -1) @ values, atol=1e-5))
