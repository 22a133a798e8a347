"""A range of numpy divided by a number has another dtype.

An idea of our own.
kind: dtype
stage: tracing
"""

import numpy
import torch


@torch.compile(backend="eager")
def step(x):
    return numpy.arange(3) / 2  # cause


print(step(torch.ones(2)).dtype)
