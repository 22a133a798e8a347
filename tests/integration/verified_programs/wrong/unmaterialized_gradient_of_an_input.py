"""The gradient of an input that the backward does not reach is zeros, not None.

After pytorch/pytorch#106391.
kind: gradient
stage: tracing
"""

import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.set_materialize_grads(False)
        return x * 2, w * 2

    @staticmethod
    def backward(ctx, first, second):
        return first, second


@torch.compile(backend="aot_eager")
def step(x, w):
    return Scale.apply(x, w)  # cause


x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
step(x, w)[0].sum().backward()
print(x.grad, w.grad)
