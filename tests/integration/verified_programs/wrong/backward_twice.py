"""A second backward raises, although nothing was saved that is freed.

An idea of our own.
kind: exception
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def step(x):
    return x + 2  # cause


x = torch.ones(2, requires_grad=True)
out = step(x).sum()
try:
    out.backward()
    out.backward()
    print(x.grad)
except RuntimeError as error:
    print(type(error).__name__)
