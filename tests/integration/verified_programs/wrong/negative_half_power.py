"""The power -0.5 of -0.0 and of minus infinity is that of a root.

An idea of our own.
kind: value
stage: inductor
"""

import torch


@torch.compile
def step(x):
    y = x * 2
    return y**-0.5  # cause


print(step(torch.tensor([4.0, -0.0, -float("inf"), 1.0])))
