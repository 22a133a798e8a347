"""The arguments share memory now, and one of them is written.

After pytorch/pytorch#139789.
kind: value
stage: guards
"""

import torch


@torch.compile(backend="aot_eager")
def step(x, y):
    x.mul_(2)  # cause
    return x + y


print(step(torch.ones(4), torch.ones(4)))
base = torch.ones(8)
print(step(base[:4], base[2:6]))
