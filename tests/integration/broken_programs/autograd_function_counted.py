"""A custom autograd function that counts how often it ran, on its own class.

kind: fell back to eager
advice: out of the compiled code
"""

import torch


class Doubled(torch.autograd.Function):
    calls = 0

    @staticmethod
    def forward(ctx, x):
        Doubled.calls += 1  # cause
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


@torch.compile(backend="eager")
def loss(x):
    return Doubled.apply(x.sin()).sum()


for value in (1.0, 2.0, 3.0):
    x = torch.full((4,), value, requires_grad=True)
    loss(x).backward()
    print(x.grad.sum().item(), Doubled.calls)
