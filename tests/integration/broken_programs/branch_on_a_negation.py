"""A branch on `not` of what a tensor holds.

kind: graph break
advice: torch.where(torch.logical_not(
"""

import torch


@torch.compile(backend="eager")
def turned(x):
    y = x.sin()
    if not torch.all(y > 0):  # cause
        y = -y
    return y.cos()


print(turned(torch.ones(2)).tolist())
