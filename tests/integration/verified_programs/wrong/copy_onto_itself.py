"""A copy between overlapping slices raises in eager alone.

An idea of our own.
kind: exception
stage: AOTAutograd
"""

import torch


@torch.compile
def step(x):
    x[1:] = x[:-1]  # cause
    return x * 2


print(step(torch.arange(20.0)))
