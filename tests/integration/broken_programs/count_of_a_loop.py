"""How often a loop runs is taken out of a tensor first.

kind: graph break
advice: as a Python int
"""

import torch


@torch.compile(backend="eager")
def model(x, n):
    y = x.sin()
    count = int(n.sum())  # cause
    for _ in range(count):
        y = y + 1
    return y


for last in (1, 2):
    print(model(torch.ones(2), torch.tensor([1, last])).tolist())
