"""Tracing needs more of Python's stack than the program does.

An idea of our own.
kind: exception
stage: tracing
"""

import torch


def deep(x, n):
    return x if n == 0 else deep(x + 1, n - 1)  # cause


@torch.compile(backend="eager")
def step(x):
    return deep(x, 400)


try:
    print(step(torch.zeros(2)))
except Exception as error:
    print(type(error).__name__)
