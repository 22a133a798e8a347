"""How many attributes an object has is what it was in the first call.

An idea of our own.
kind: value
stage: guards
"""

from types import SimpleNamespace

import torch

options = SimpleNamespace(rate=2)


@torch.compile(backend="eager")
def step(x):
    return x * len(vars(options))  # cause


print(step(torch.ones(2)))
options.momentum = 3
print(step(torch.ones(2)))
