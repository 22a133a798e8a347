"""Not a number stays so when it is shrunk.

An idea of our own.
kind: value
stage: inductor
"""

import torch
import torch.nn.functional as F


@torch.compile
def step(x):
    y = x * 2
    return F.softshrink(y)  # cause


print(step(torch.tensor([1.0, float("nan"), 0.1])))
