"""`x.data = y` does not compile.

After pytorch/pytorch#113030.
kind: exception
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def step(x, y):
    x.data = y  # cause
    x.add_(1)
    return x * 2


x, y = torch.ones(2), torch.zeros(2)
try:
    print(step(x, y), x, y)
except Exception as error:
    print(type(error).__name__)
