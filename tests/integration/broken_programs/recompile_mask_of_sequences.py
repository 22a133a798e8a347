"""A block mask is compiled for each length.

kind: recompile
advice: dynamic=True

Made after https://github.com/pytorch/pytorch/issues/141486
"""

import functools

import torch


@functools.partial(torch.compile, backend="eager", dynamic=False)
def block_mask(x):
    return x[:, None] >= x[None, :]  # cause


for length in (4, 6, 8):
    print(block_mask(torch.arange(length)).sum().item())
