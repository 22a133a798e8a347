"""Strides, dtypes and identity of .grad: what accumulates in place, and what a hook or a view would see."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(48, 2))
weight = nn.Parameter(torch.randn(4, 6).t())


def product(x):
    return (x @ weight).sum()


x = torch.randn(2, 2, 4, 4).to(memory_format=torch.channels_last).requires_grad_()
model(x).sum().backward()
first = [p.grad for p in model.parameters()]
print(x.grad.stride(), [g.stride() for g in first])
model(x).sum().backward()
print([p.grad is g for p, g in zip(model.parameters(), first, strict=True)])
product(torch.ones(6, 4).t()).backward()
print(weight.stride(), weight.grad.stride(), weight.grad.is_contiguous())
expanded = torch.ones(1, 6, requires_grad=True)
product(expanded.expand(4, 6)).backward()
print(expanded.grad.tolist(), expanded.grad.stride())
double = torch.ones(2, 6, dtype=torch.float32, requires_grad=True)
(product(double).double() * 2).backward()
print(double.grad.dtype, double.grad.sum().item())
