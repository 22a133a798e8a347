"""A custom autograd function that reads a constant from its own class.

kind: graph break
advice: elsewhere than on that class
"""

import torch


class Reversed(torch.autograd.Function):
    strength = 0.5

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return -Reversed.strength * gradient  # cause


@torch.compile(backend="eager")
def loss(x):
    return Reversed.apply(x.sin()).sum()


for value in (1.0, 2.0):
    x = torch.full((4,), value, requires_grad=True)
    loss(x).backward()
    print(x.grad.sum().item())
