"""A branch on whether a size is large.

kind: recompile
advice: x.size(0) > 6
"""

import torch


@torch.compile(backend="eager", dynamic=True)
def scaled(x):
    if x.size(0) > 6:  # cause
        return x * 2
    return x + 1


for n in (4, 5, 7, 8):
    print(scaled(torch.ones(n)).tolist())
