"""A custom autograd.Function that calls numpy in its forward.

kind: graph break
advice: torch
"""

import numpy as np
import torch


class Filter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = np.convolve(x.detach().numpy(), np.ones(2), mode="same")  # cause
        return torch.from_numpy(y).float()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


@torch.compile(backend="aot_eager")
def model(x):
    y = x.sin()
    return Filter.apply(y).sum()


x = torch.ones(4, requires_grad=True)
model(x).backward()
print(x.grad.tolist())
