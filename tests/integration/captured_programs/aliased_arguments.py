"""The same tensor, or overlapping views of one, are given as two arguments, and one is written to."""

import torch

torch.manual_seed(0)


def add_into(a, b):
    a.add_(b)
    return a * b


def mix(a, b):
    b[0] = 10
    return a.sum() + b.sum()


x = torch.arange(4.0)
y = torch.arange(4.0)
print(add_into(x, y).tolist(), x.tolist())
print(add_into(x, x).tolist(), x.tolist())
print(add_into(x[:2], x[2:]).tolist(), x.tolist())
print(add_into(x[1:], y[:3]).tolist(), x.tolist())
print(mix(x, x[1:]).item(), mix(x[1:], x).item(), mix(x, y).item(), x.tolist())
leaf = torch.ones(4, requires_grad=True)
base = leaf * 1
add_into(base[:2], base[2:]).sum().backward()
print(leaf.grad.tolist())
a, b = (lambda v: (v.expand(3, 4), v.unsqueeze(0)))(y)
print(mix(y, a[1]).item(), a.tolist(), b.tolist())
