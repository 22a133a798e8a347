"""A loop on a value that is taken out of a tensor.

kind: fell back to eager
advice: body
"""

import torch


@torch.compile(backend="eager")
def shrunk(x):
    y = x.sin()
    while y.norm().item() > 1:  # cause
        y = y / 2
    return y.cos()


print(shrunk(torch.linspace(0, 3, 8)).tolist())
