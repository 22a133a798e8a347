"""A gradient that is None in Python is a tensor of zeros in the backward.

After pytorch/pytorch#106391.
kind: gradient
stage: tracing
"""

import torch


class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        if second is None:
            return first * 100
        return first * 2 + second * 3


@torch.compile(backend="aot_eager")
def step(x):
    return Pair.apply(x)  # cause


x = torch.ones(2, requires_grad=True)
step(x)[0].sum().backward()
print(x.grad)
