"""torch.func.grad does not use the backward that a function of the program has.

After https://github.com/pytorch/pytorch/issues/193279
kind: value
stage: tracing
"""

import torch


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return torch.round(x) * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        return grad * 7


def loss(x):
    return Straight.apply(x).sum()  # cause


step = torch.compile(torch.func.grad(loss), backend="eager")
print(step(torch.arange(3.0)))
