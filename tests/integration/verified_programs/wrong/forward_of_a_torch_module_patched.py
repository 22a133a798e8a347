"""A module of torch's has another `forward` now.

An idea of our own.
kind: value
stage: guards
"""

import torch

layer = torch.nn.ReLU()


@torch.compile(backend="eager")
def step(x):
    return layer(x)  # cause


print(step(torch.ones(2)))
torch.nn.ReLU.forward = lambda self, x: x * 9
print(step(torch.ones(2)))
