"""A target above 1 is taken.

After pytorch/pytorch#193757.
kind: exception
stage: decompositions
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def loss(x, target):
    return torch.nn.functional.binary_cross_entropy(x, target)  # cause


try:
    print(loss(torch.ones(4), torch.full((4,), 1.5)))
except RuntimeError as error:
    print(type(error).__name__)
