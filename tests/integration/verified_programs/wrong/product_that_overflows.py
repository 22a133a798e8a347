"""A product of integers that does not fit is divided as if it did.

An idea of our own.
kind: value
stage: inductor
"""

import torch


@torch.compile
def step(x):
    square = x * x
    return square // x  # cause


print(step(torch.tensor([70000], dtype=torch.int32)))
