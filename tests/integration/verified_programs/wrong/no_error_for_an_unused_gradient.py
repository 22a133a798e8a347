"""torch.autograd.grad gives zeros where it raises in eager.

An idea of our own.
kind: exception
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def step(x, w):
    return x * 2, w * 3  # cause


x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
try:
    print(torch.autograd.grad(step(x, w)[0].sum(), w))
except RuntimeError as error:
    print(type(error).__name__)
