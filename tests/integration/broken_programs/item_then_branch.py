"""A value is taken out of a tensor and branched on, where no setting helps.

kind: graph break
advice: torch.where
"""

import torch


@torch.compile(backend="eager")
def scaled(x):
    y = x.sin()
    if y.sum().item() > 0:  # cause
        y = y * 2
    return y.cos()


for seed in range(4):
    torch.manual_seed(seed)
    print(scaled(torch.randn(8)).tolist())
