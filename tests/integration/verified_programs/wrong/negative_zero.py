"""-0.0 is taken for the 0.0 of the first call.

An idea of our own.
kind: value
stage: guards
"""

import math

import torch


@torch.compile(backend="eager")
def step(x, offset):
    return x * math.copysign(1.0, offset)  # cause


print(step(torch.ones(2), 0.0))
print(step(torch.ones(2), -0.0))
