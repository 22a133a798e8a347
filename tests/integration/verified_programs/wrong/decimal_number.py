"""A decimal number as an argument ends tracing with a RecursionError.

An idea of our own.
kind: exception
stage: tracing
"""

from decimal import Decimal

import torch


@torch.compile(backend="eager")
def step(x, times):
    return x * int(times)  # cause


try:
    print(step(torch.ones(2), Decimal(2)))
except Exception as error:
    print(type(error).__name__)
