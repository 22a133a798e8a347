"""Integers overflow as in eager."""

import torch


@torch.compile
def step(x):
    return x * x, x + 2**31 - 1, x.sum()


print(step(torch.tensor([2**31 - 1, 3], dtype=torch.int32)))
