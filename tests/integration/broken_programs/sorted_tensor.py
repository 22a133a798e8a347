"""A tensor that Python's sorted puts into order.

kind: graph break
advice: torch.sort
"""

import torch


@torch.compile(backend="eager")
def ordered(x):
    y = x.sin()
    z = torch.stack(sorted(y))  # cause
    return z * 2


for number in range(3):
    print(ordered(torch.tensor([2.0, 1.0 + number, 0.0])).tolist())
