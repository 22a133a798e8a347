"""Attention and softmax with rows that are masked as a whole, -inf losses, and empty selections."""

import torch
from torch import nn

torch.manual_seed(0)


def attend(q, k, v, mask):
    return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def softmaxes(x):
    return x.softmax(-1), x.log_softmax(-1), x.logsumexp(-1), torch.nn.functional.softmax(x.nan_to_num(), -1)


def averages(x, keep):
    return x[keep].mean(), x[keep].sum(), nn.functional.cross_entropy(x, torch.full((2,), -100))


q = torch.randn(1, 1, 3, 4, requires_grad=True)
mask = torch.tensor([[True, True, False], [False, False, False], [True, False, True]])
out = attend(q, torch.randn(1, 1, 3, 4), torch.randn(1, 1, 3, 4), mask)
out.nan_to_num().sum().backward()
print(out.tolist(), q.grad.tolist())
print([t.tolist() for t in softmaxes(torch.tensor([[0.0, 1.0], [-float("inf"), -float("inf")]]))])
print([t.item() for t in averages(torch.randn(2, 3), torch.zeros(2, 3, dtype=torch.bool))])
print([t.item() for t in averages(torch.ones(2, 3), torch.eye(2, 3).bool())])
