"""A negative deviation is taken.

After pytorch/pytorch#187930.
kind: exception
stage: decompositions
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def noise(mean, deviation):
    return torch.normal(mean, deviation)  # cause


try:
    print(noise(torch.zeros(2), -torch.ones(2)).shape)
except RuntimeError as error:
    print(type(error).__name__)
