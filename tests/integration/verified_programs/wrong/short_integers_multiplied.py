"""A product of int8 matrices is of int64.

After pytorch/pytorch#191308.
kind: dtype
stage: inductor
"""

import torch


@torch.compile
def step(a, b):
    return torch.matmul(a, b)  # cause


print(step(torch.ones(1, 1, 2, dtype=torch.int8), torch.ones(1, 2, 2, dtype=torch.int8)).dtype)
