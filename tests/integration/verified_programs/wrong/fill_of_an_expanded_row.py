"""A row that is expanded is filled.

An idea of our own.
kind: value
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def fill(x):
    y = x + 1
    rows = y.expand(3, 4)
    rows.fill_(2.0)  # cause
    return y


print(fill(torch.zeros(1, 4)))
