"""A branch on a mask that not every call gives.

kind: graph break
advice: which Python knows, in the `if`
"""

import torch


@torch.compile(backend="eager")
def scores(x, mask=None):
    y = x * 3
    if mask is not None and mask.any():  # cause
        y = y.masked_fill(mask, -1.0)
    return y + 1


print(scores(torch.ones(3)).tolist())
for _ in range(3):
    print(scores(torch.ones(3), torch.tensor([True, False, True])).tolist())
