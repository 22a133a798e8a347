"""The function warns, and prints to the standard error."""

import sys
import warnings

import torch


@torch.compile(backend="eager")
def step(x):
    if x.shape[0] > 2:
        warnings.warn("many rows", stacklevel=1)
    print("rows:", x.shape[0], file=sys.stderr)
    return x + 1


for size in (2, 3, 4):
    print(step(torch.ones(size)))
