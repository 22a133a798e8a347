"""A factor that is an int in some calls.

kind: recompile
advice: tensor
"""

import torch


@torch.compile(backend="eager")
def scaled(x, factor):
    return x * factor  # cause


for factor in (2, 2.5, 3, 3.5):
    print(scaled(torch.ones(2), factor).tolist())
