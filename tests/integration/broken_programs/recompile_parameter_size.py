"""Parameters of different sizes.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch


@torch.compile(backend="eager")
def doubled(w):
    return w * 2  # cause


for n in (32, 4, 5):
    print(doubled(torch.nn.Parameter(torch.ones(n, 4))).sum().item())
