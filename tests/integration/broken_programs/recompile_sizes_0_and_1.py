"""Sizes of 0 and 1 among others, where nothing depends on the size.

kind: recompile
advice: TORCH_COMPILE_UNBACKED_SOURCES
"""

import torch


@torch.compile(backend="eager")
def scaled(x):
    return (x * 2).relu().sum()  # cause


for n in (3, 4, 5, 1, 0, 7):
    print(scaled(torch.ones(n, 8)).item())
