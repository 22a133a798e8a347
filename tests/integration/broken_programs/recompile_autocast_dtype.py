"""Autocast with two dtypes.

kind: recompile
advice: dtype
"""

import torch


@torch.compile(backend="eager")
def product(x):
    return (x @ x).float().sum()


for dtype in (torch.bfloat16, torch.float16):
    with torch.autocast("cpu", dtype=dtype):
        print(product(torch.ones(4, 4)).item())  # cause
