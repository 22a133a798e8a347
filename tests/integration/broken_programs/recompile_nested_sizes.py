"""Sizes that vary inside of containers.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch


@torch.compile(backend="eager")
def total(batch):
    return batch["x"][0].sum() + batch["y"].sum()  # cause


for n in (2, 3, 4, 5):
    print(total({"x": [torch.ones(n, 2)], "y": torch.ones(n)}).item())
