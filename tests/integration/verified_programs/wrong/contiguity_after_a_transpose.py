"""After a transpose in place, a tensor still says that it is contiguous.

An idea of our own.
kind: value
stage: tracing
"""

import torch


@torch.compile(backend="eager")
def step(x):
    y = x + 1
    y.t_()
    if y.is_contiguous():  # cause
        return y.sum(0) * 2
    return y.sum(0)


print(step(torch.ones(2, 3)))
