"""A view that is resized resizes its base.

After pytorch/pytorch#191449.
kind: structure
stage: inductor
"""

import torch


@torch.compile
def step(x):
    base = x + 1
    alias = base.view(-1)
    alias.resize_(4)  # cause
    return base + 1


print(step(torch.zeros(1)).shape)
