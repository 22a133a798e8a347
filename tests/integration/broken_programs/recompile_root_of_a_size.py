"""Patches of a square image, whose side is the root of their number.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after a pattern common in timm and Hugging Face vision models (positional encodings).
"""

import torch


@torch.compile(backend="eager")
def as_image(x):
    side = int(x.shape[1] ** 0.5)  # cause
    return x.view(x.shape[0], side, side).sum(1)


for side in (4, 5, 6, 7):
    print(as_image(torch.ones(2, side * side)).sum().item())
