"""A name is made of a value.

kind: graph break
advice: after the call
"""

import torch


@torch.compile(backend="eager")
def named(x):
    y = x.sin()
    name = f"sum {y.sum().item():.2f}"  # cause
    return y.cos(), name


print(named(torch.ones(2)))
