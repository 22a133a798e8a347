"""The inverse of the hyperbolic cosine of a large number is infinite.

An idea of our own.
kind: value
stage: inductor
"""

import torch


@torch.compile
def step(x):
    y = x * 2
    return torch.acosh(y)  # cause


# Sixteen of each: few numbers are calculated one by one on some processors.
print(step(torch.tensor([1.0, 1e20]).repeat_interleave(16))[::16])
