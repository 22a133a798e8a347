"""Numbers that are none come out as in eager."""

import torch


@torch.compile
def step(x):
    return x / x.abs().max(), x.log(), x.exp(), torch.where(x > 0, x.sqrt(), x)


print(step(torch.tensor([0.0, -1.0, float("inf"), float("nan"), 1e38])))
