"""The same, where the value has a name between.

kind: graph break
advice: torch.where
"""

import torch


@torch.compile(backend="eager")
def scaled(x):
    y = x.sin()
    total = y.sum().item()  # cause
    if total > 0:
        y = y * 2
    return y.cos()


for seed in range(4):
    torch.manual_seed(seed)
    print(scaled(torch.randn(8)).tolist())
