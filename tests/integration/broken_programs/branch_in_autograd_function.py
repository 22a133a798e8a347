"""A branch on a value in the forward of a custom autograd.Function.

kind: graph break
advice: torch.where
"""

import torch


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        if y.sum() > 0:  # cause
            y = y * 2
        return y

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


@torch.compile(backend="aot_eager")
def model(x):
    return Scaled.apply(x.sin()).sum()


x = torch.ones(3, requires_grad=True)
model(x).backward()
print(x.grad.tolist())
