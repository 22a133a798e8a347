"""A loop as long as a tensor says.

kind: graph break
advice: as a Python int
"""

import torch


@torch.compile(backend="eager")
def model(x, n):
    y = x.sin()
    for _ in range(int(n.sum())):  # cause
        y = y * 2
    return y.sum()


print(model(torch.ones(4), torch.tensor([1, 2])).item())
