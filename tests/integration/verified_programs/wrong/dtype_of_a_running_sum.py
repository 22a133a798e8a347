"""The dtype that a running sum is asked for is dropped.

After pytorch/pytorch#189518.
kind: dtype
stage: inductor
"""

import torch


@torch.compile
def step(x):
    return torch.ones((2, 4), dtype=torch.bool).cumsum(1, dtype=torch.bfloat16)  # cause


print(step(torch.ones(1)).dtype)
