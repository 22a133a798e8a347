"""A number of numpy becomes an array.

An idea of our own.
kind: structure
stage: tracing
"""

import numpy
import torch


@torch.compile(backend="eager")
def step(x):
    return x, numpy.mean(numpy.ones(4))  # cause


print(type(step(torch.ones(2))[1]).__name__)
