"""Adding a tensor to itself shifted by one raises nothing.

An idea of our own.
kind: exception
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def step(x):
    y = x * 2
    y[1:].add_(y[:-1])  # cause
    return y


try:
    print(step(torch.ones(4)))
except RuntimeError as error:
    print("raised", type(error).__name__)
