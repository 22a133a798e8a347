"""Functions that write into what they were given: the caller's tensors change, views with them."""

import torch
from torch import nn

torch.manual_seed(0)


def normalise_(x):
    x -= x.mean()
    x.div_(x.std())
    return x


def fill_rows(table, rows, value):
    table[rows] = value
    return table.sum(0)


def swap(a, b):
    a[:], b[:] = b.clone(), a.clone()


x = torch.randn(3, 4)
view = x[1]
out = normalise_(x)
print(out is x, view.tolist(), x._version > 0)
print(fill_rows(x, torch.tensor([0, 2]), 7.0).tolist(), view.tolist(), x[0].tolist())
a, b = torch.zeros(2), torch.ones(2)
print(swap(a, b), a.tolist(), b.tolist())
print(nn.functional.relu(view, inplace=True) is view, x[1].tolist())
print(normalise_(x[:, ::2]).tolist(), x.tolist())
