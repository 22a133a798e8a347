"""A global number that the program changes.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch

STEP = 2


@torch.compile(backend="eager")
def scaled(x):
    return x * STEP  # cause


for step in (2, 3, 4, 5):
    STEP = step
    print(scaled(torch.ones(4)).tolist())
