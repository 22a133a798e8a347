"""A number among the arguments that differs between calls.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch


@torch.compile(backend="eager")
def scaled(x, k):
    return x * k  # cause


for k in (2, 3, 4, 5):
    print(scaled(torch.ones(4), k).tolist())
