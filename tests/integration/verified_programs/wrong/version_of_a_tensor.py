"""How often a tensor was written is answered too late.

An idea of our own.
kind: value
stage: tracing
"""

import torch


@torch.compile(backend="eager")
def step(x):
    before = x._version  # cause
    x.add_(1)
    return x, before


print(step(torch.ones(2)))
