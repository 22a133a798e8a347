"""A view of an argument that overlaps a written one is made from the other one's shape.

After https://github.com/pytorch/pytorch/issues/198095
kind: exception
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def step(x, part):
    x.add_(100)
    return part[0]  # cause


base = torch.arange(24.0).reshape(4, 6)
try:
    print(step(base, base[1:]))
except AssertionError as error:
    print(type(error).__name__)
