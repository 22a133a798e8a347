"""A batch of one first, and others later.

kind: recompile
advice: TORCH_COMPILE_UNBACKED_SOURCES
"""

import torch


@torch.compile(backend="eager")
def scaled(x):
    return (x * 2).sum()  # cause


for n in (1, 4, 5):
    print(scaled(torch.ones(n, 3)).item())
