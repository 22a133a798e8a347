"""An infinite number times 0 is 0, not nan.

An idea of our own.
kind: value
stage: inductor
"""

import torch


@torch.compile
def nothing(x):
    return x * 0  # cause


print(nothing(torch.tensor([float("inf"), 1.0])))
