"""Returned inputs are the same objects; a tensor returned twice is one object."""

import torch
from torch import nn

torch.manual_seed(0)


def passes(x, mask=None):
    return (x, mask) if mask is not None else x


def twice(x):
    y = x + 1
    return y, y, [y, x]


def skip(x, p):
    return nn.functional.dropout(x, p, training=False)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Identity(), nn.Dropout(0.5)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


x, mask = torch.randn(3), torch.ones(3)
out, same_mask = passes(x, mask)
print(out is x, same_mask is mask, passes(x) is x)
first, second, (third, fourth) = twice(x)
print(first is second, first is third, fourth is x)
print(skip(x, 0.1) is x, Residual().eval()(x) is x, Residual()(x) is x)
leaf = torch.randn(3, requires_grad=True)
print(passes(leaf) is leaf, passes(leaf).is_leaf, passes(leaf).grad_fn)
y = leaf * 2
print(passes(y) is y, passes(y).grad_fn.name())
