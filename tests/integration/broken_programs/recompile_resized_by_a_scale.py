"""Images that are resized by another factor each time.

kind: recompile limit
advice: a size in place of a factor

Made after a pattern common in kornia and segmentation models (multi-scale training).
"""

import torch
from torch.nn.functional import interpolate


@torch.compile(backend="eager")
def resized(x, scale):
    return interpolate(x, scale_factor=scale) * 2  # cause


for step in range(12):
    print(tuple(resized(torch.ones(1, 1, 16, 16), 1 + step / 8).shape))
