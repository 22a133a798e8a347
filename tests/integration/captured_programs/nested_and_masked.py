"""Nested (jagged) tensors through the program's functions, beside padded ones with masks."""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
layer = nn.Linear(3, 2)


def pooled(x):
    return layer(x).relu()


def masked_mean(x, mask):
    return (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


parts = [torch.randn(n, 3) for n in (2, 4)]
nested = torch.nested.nested_tensor(parts, layout=torch.jagged)
out = pooled(nested)
print(out.is_nested, [part.tolist() for part in out.unbind()])
padded = nn.utils.rnn.pad_sequence(parts, batch_first=True)
mask = torch.tensor([[1, 1, 0, 0], [1, 1, 1, 1]]).float()
mean = masked_mean(pooled(padded), mask)
mean.sum().backward()
print(mean.tolist(), layer.weight.grad.tolist())
