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


print(step(torch.tensor([1.0, 1e20])))
