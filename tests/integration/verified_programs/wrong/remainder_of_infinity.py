"""The remainder by infinity is the number itself.

An idea of our own.
kind: value
stage: inductor
"""

import torch


@torch.compile
def step(x, period):
    y = x * 2
    return torch.remainder(y, period)  # cause


# Sixteen of each: few numbers are calculated one by one on some processors.
numbers = torch.tensor([1.0, -1.0, 0.5]).repeat_interleave(16)
print(step(numbers, torch.tensor(float("inf")))[::16])
