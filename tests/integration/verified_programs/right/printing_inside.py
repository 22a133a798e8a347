"""The function prints, which breaks the graph."""

import torch


@torch.compile(backend="eager")
def step(x):
    y = x * 2
    print("mean", y.mean().item())
    return y + 1


for number in range(3):
    print(step(torch.full((2,), float(number))))
