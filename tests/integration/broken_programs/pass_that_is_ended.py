"""A pass of a loop that ends early by what a tensor holds.

kind: fell back to eager
advice: torch.where(x.sum() < 0, old, new)
"""

import torch


@torch.compile(backend="eager")
def decoded(x):
    for _ in range(3):
        if x.sum() < 0:  # cause
            continue
        x = x - 1
    return x


print(decoded(torch.tensor([1.0, 2.0])).tolist())
