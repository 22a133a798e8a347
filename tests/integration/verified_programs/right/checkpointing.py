"""Layers are computed again in the backward."""

import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Dropout(0.2))


@torch.compile(backend="aot_eager")
def step(x):
    return checkpoint(layer, x, use_reentrant=False).sum()


for _ in range(2):
    layer.zero_grad()
    step(torch.ones(2, 4)).backward()
    print(f"{layer[0].weight.grad.sum().item():.4f}")
