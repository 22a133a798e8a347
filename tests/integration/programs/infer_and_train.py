"""A graph without gradients, one with, one that is given a tensor twice, and one with a graph in it."""

import torch
from torch.utils.checkpoint import checkpoint


def infer(x):
    return torch.sin(x) @ x


def train(weight, x):
    return torch.tanh(x @ weight).sum()


def add_twice(x, y):
    x.add_(1)
    return x + y


def saved_anew(x):
    return checkpoint(lambda value: torch.cos(value).exp(), x, use_reentrant=False).sum()


torch.manual_seed(0)
values = torch.randn(4, 4)
weight = torch.randn(4, 4, requires_grad=True)
print(infer(values))
train(weight, values).backward()
print(weight.grad)
print(add_twice(values, values))
saved_anew(weight).backward()
print(weight.grad)
