"""A loop that goes on until a tensor is small.

kind: graph break
advice: body
"""

import torch


@torch.compile(backend="eager")
def shrunk(x):
    y = x.sin()
    while y.norm() > 1:  # cause
        y = y / 2
    return y.cos()


print(shrunk(torch.linspace(0, 3, 8)).tolist())
