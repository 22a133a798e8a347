"""A function called with batches of different sizes.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch


@torch.compile(backend="eager")
def scaled(x):
    y = x.sin()  # cause
    return y * 2


for n in (3, 4, 5, 6):
    print(scaled(torch.ones(n, 2)).sum().item())
