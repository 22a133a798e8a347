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


print(step(torch.tensor([1.0, -1.0, 0.5]), torch.tensor(float("inf"))))
