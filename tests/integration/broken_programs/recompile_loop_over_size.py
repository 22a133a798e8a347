"""A Python loop over a size, which is unrolled for each.

kind: recompile
advice: loop
"""

import torch


@torch.compile(backend="eager")
def total(x):
    y = torch.zeros(2)
    for i in range(x.size(0)):  # cause
        y = y + x[i]
    return y


for n in (3, 4, 5):
    print(total(torch.ones(n, 2)).tolist())
