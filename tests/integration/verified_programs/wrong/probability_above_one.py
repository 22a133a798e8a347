"""A probability above 1 is taken.

After pytorch/pytorch#185246.
kind: exception
stage: decompositions
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def drop(p):
    return torch.bernoulli(p)  # cause


try:
    print(drop(torch.full((4,), 3.0)))
except RuntimeError as error:
    print(type(error).__name__)
