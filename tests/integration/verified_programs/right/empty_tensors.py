"""Tensors without elements."""

import torch


@torch.compile
def step(x, index):
    return x.sum(), x[index], torch.cat([x, x]), x.view(-1, 3) * 2


for _ in range(2):
    print(step(torch.empty(0, 3), torch.empty(0, dtype=torch.int64)))
