"""A running sum of an array of bytes is one of bytes, in which 300 does not fit.

An idea of our own.
kind: dtype
stage: tracing
"""

import numpy as np
import torch


@torch.compile(backend="eager")
def step(values):
    return np.cumsum(values)  # cause


print(step(np.array([200, 100], dtype=np.uint8)))
