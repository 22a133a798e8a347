"""A branch on what a tensor holds.

kind: graph break
advice: torch.where
"""

import torch


@torch.compile(backend="eager")
def scaled(x):
    y = x.sin()
    if y.sum() > 0:  # cause
        y = y * 2
    return y.cos()


for seed in range(4):
    torch.manual_seed(seed)
    print(scaled(torch.randn(8)).tolist())
