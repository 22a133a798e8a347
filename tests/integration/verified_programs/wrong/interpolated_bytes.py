"""Interpolated bytes are rounded otherwise.

An idea of our own.
kind: value
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def enlarge(x):
    return torch.nn.functional.interpolate(x, size=(3, 5), mode="bilinear", antialias=False)  # cause


print(enlarge((torch.arange(16, dtype=torch.uint8) * 15).reshape(1, 1, 4, 4)))
