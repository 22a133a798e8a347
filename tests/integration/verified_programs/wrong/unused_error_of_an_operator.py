"""A loss of what is no probability gives a number where eager raises.

An idea of our own.
kind: exception
stage: decompositions
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def step(x, target):
    doubled = x * 2
    loss = torch.nn.functional.binary_cross_entropy(doubled, target)  # cause
    return loss + 1


try:
    print(step(torch.ones(1), torch.ones(1)))
except RuntimeError as error:
    print(type(error).__name__)
