"""What is written into a reversed view of an array does not reach the array.

An idea of our own.
kind: value
stage: tracing
"""

import numpy
import torch


@torch.compile(backend="eager")
def step(x):
    rows = numpy.arange(3.0)
    last_first = rows[::-1]  # cause
    last_first[0] = 9.0
    return x + torch.from_numpy(rows)


print(step(torch.ones(3)))
