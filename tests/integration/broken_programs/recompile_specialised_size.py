"""A branch on one size: each answer is a version of its own.

kind: recompile
advice: x.size(0) == 5
"""

import torch


@torch.compile(backend="eager")
def scaled(x):
    if x.size(0) == 5:  # cause
        return x * 2
    return x + 1


for n in (4, 5, 6, 7):
    print(scaled(torch.ones(n)).tolist())
