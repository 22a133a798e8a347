"""A global variable stands before a built-in function now.

An idea of our own.
kind: value
stage: guards
"""

import torch


@torch.compile(backend="eager")
def step(x):
    return x * len([1, 2])  # cause


print(step(torch.ones(2)))
len = lambda values: 7  # noqa: E731
print(step(torch.ones(2)))
