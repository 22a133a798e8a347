"""What is stacked has other strides.

An idea of our own.
kind: stride
stage: decompositions
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def stack(x):
    return torch.stack([x, x])  # cause


print(stack(torch.ones(2, 3, 4, 5).permute(0, 3, 1, 2)).stride())
