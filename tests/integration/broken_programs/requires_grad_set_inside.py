"""A tensor that is set to require a gradient inside.

kind: graph break
advice: in front of the call
"""

import torch


@torch.compile(backend="eager")
def penalized(x):
    y = x * 2
    x.requires_grad = True  # cause
    return (y + x.square()).sum()


for number in range(3):
    x = torch.full((2,), float(number))
    penalized(x).backward()
    print(x.grad.tolist())
