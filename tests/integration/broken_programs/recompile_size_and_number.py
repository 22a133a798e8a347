"""A size and a number that vary, 0 and 1 among the sizes.

kind: recompile
advice: TORCH_COMPILE_UNBACKED_SOURCES
"""

import torch


@torch.compile(backend="eager")
def scaled(x, k):
    return (x * k).relu().sum()  # cause


for n in (3, 4, 5, 1, 0, 7):
    print(scaled(torch.ones(n, 8), 2).item())
for k in (2, 3, 4):
    print(scaled(torch.ones(6, 8), k).item())
