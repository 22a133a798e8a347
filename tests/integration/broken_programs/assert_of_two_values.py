"""An assert of two conditions, which is a branch on the first.

kind: graph break
advice: torch.logical_and
"""

import torch


@torch.compile(backend="eager")
def scaled(x):
    y = x.sigmoid()
    assert y.min() > 0 and y.max() < 1  # cause
    return y * 2


print(scaled(torch.tensor([1.0, 4.0])).tolist())
