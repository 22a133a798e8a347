"""Writing one of two arguments that overlap raises in eager alone.

An idea of our own.
kind: exception
stage: AOTAutograd
"""

import torch


@torch.compile
def step(x, y):
    x.add_(y)  # cause
    return x * 1


base = torch.ones(18)
print(step(base[1:], base[:-1]))
print(base)
