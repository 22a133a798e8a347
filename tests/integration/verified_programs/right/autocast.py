"""Layers under autocast."""

import torch

torch.manual_seed(0)
layer = torch.nn.Linear(32, 8)


@torch.compile
def step(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return layer(x).relu().float().sum()


for _ in range(2):
    step(torch.randn(4, 32)).backward()
print(layer.weight.grad.dtype)
