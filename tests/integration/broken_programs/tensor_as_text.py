"""A tensor in an f-string, for a name.

kind: graph break
advice: after
"""

import torch

names = []


@torch.compile(backend="eager")
def named(x):
    y = x.sin()
    names.append(f"sum {y.sum():.2f}")  # cause
    return y.cos()


print(named(torch.ones(2)).tolist(), names)
