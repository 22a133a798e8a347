"""A negative beta is taken.

After pytorch/pytorch#194501.
kind: exception
stage: decompositions
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def loss(x, y):
    return torch.nn.functional.smooth_l1_loss(x, y, beta=-1.0)  # cause


try:
    print(loss(torch.ones(2), torch.zeros(2)))
except RuntimeError as error:
    print(type(error).__name__)
