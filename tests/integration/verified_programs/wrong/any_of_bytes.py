"""Whether any of some bytes is set is a bool instead of a byte.

An idea of our own.
kind: dtype
stage: inductor
"""

import torch


@torch.compile
def step(x):
    y = x + 1
    return y.any()  # cause


print(step(torch.tensor([1, 0], dtype=torch.uint8)))
