"""A backward of the program's reads a list that was changed after the forward: it gets the earlier value.

An idea of our own.
kind: gradient
stage: tracing
"""

import torch

scale = [2.0]


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * scale[0]


@torch.compile(backend="aot_eager")
def step(x):
    return Doubled.apply(x)  # cause


x = torch.ones(2, requires_grad=True)
y = step(x)
scale[0] = 5.0
y.sum().backward()
print(x.grad)
