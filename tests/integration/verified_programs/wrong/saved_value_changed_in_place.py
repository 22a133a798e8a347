"""The forward raises what should be raised in the backward.

An idea of our own.
kind: exception
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def step(x):
    y = x.exp()
    y.add_(1)  # cause
    return y


x = torch.ones(2, requires_grad=True)
try:
    step(x).sum().backward()
    print(x.grad)
except RuntimeError as error:
    print(type(error).__name__)
