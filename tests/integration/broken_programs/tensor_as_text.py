"""A tensor is made text.

kind: graph break
advice: after the call
"""

import torch


@torch.compile(backend="eager")
def named(x):
    y = x.sin()
    name = str(y.sum())  # cause
    return y.cos(), name


print(named(torch.ones(2)))
