"""Adding to an expanded row in place raises in eager alone.

An idea of our own.
kind: exception
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def step(x):
    rows = x.expand(3, 2)
    rows.add_(1)  # cause
    return rows * 2


try:
    print(step(torch.ones(1, 2)))
except RuntimeError as error:
    print(type(error).__name__)
