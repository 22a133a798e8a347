"""A member of an enumeration among the arguments.

kind: recompile
advice: outside
"""

import enum

import torch


class Reduction(enum.Enum):
    SUM = 1
    MEAN = 2


@torch.compile(backend="eager")
def reduced(x, how):
    return x.sum() if how is Reduction.SUM else x.mean()  # cause


for how in (Reduction.SUM, Reduction.MEAN):
    print(reduced(torch.ones(4), how).item())
