"""The remainder of a number that differs from call to call does not compile.

An idea of our own.
kind: exception
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def step(x, angle):
    return x * (angle % 3)  # cause


try:
    print(step(torch.ones(2), 2.5), step(torch.ones(2), 3.5))
except Exception as error:
    print(type(error).__name__)
