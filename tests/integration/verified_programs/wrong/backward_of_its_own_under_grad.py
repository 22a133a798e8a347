"""The backward that the program wrote is replaced by that of the forward's operations.

After pytorch/pytorch#193279.
kind: value
stage: tracing
"""

import torch


class StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return torch.round(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, gradient):
        return gradient


@torch.compile(backend="eager")
def slope(x):
    return torch.func.grad(lambda y: StraightThrough.apply(y).sum())(x)  # cause


print(slope(torch.ones(2)))
