"""Another error than Python's is raised.

An idea of our own.
kind: exception
stage: tracing
"""

import torch


@torch.compile(backend="eager")
def step(x, n):
    return x * (1 // n)  # cause


try:
    print(step(torch.ones(2), 1))
    print(step(torch.ones(2), 0))
except Exception as error:
    print(type(error).__name__)
