"""An `assert` of a tensor's value raises another error.

An idea of our own.
kind: exception
stage: tracing
"""

import torch


@torch.compile(backend="eager")
def step(x):
    assert (x > 0).all(), "must be positive"  # cause
    return x * 2


try:
    print(step(-torch.ones(2)))
except Exception as error:
    print(type(error).__name__)
