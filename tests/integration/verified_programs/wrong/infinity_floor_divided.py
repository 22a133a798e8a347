"""Infinity divided by two and rounded down is infinity instead of no number.

An idea of our own.
kind: value
stage: inductor
"""

import torch


@torch.compile
def step(x):
    y = x + 1
    z = y // 2  # cause
    return z * 3


print(step(torch.tensor([5.0, float("inf"), 2.0])))
