"""The gradient of what the backward does not reach is zeros, not None.

An idea of our own.
kind: gradient
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def step(x, w):
    return x * 2, w * 3  # cause


x = torch.ones(2, requires_grad=True)
w = torch.ones(2, requires_grad=True)
out, other = step(x, w)
out.sum().backward()
print(w.grad)
