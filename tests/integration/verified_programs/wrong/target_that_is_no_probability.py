"""A loss takes numbers for probabilities that are none.

After https://github.com/pytorch/pytorch/issues/193757
kind: exception
stage: decompositions
"""

import torch
import torch.nn.functional as F


@torch.compile
def step(x, target):
    p = x.sigmoid()
    return F.binary_cross_entropy(p, target * 3)  # cause


try:
    print(step(torch.ones(4) * 9, torch.ones(4)))
except RuntimeError as error:
    print("raised", type(error).__name__)
