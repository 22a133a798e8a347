"""The entries of an OrderedDict have another order now.

An idea of our own.
kind: value
stage: guards
"""

import collections

import torch

layers = collections.OrderedDict(double=2.0, add=1.0)


@torch.compile(backend="eager")
def step(x):
    for name, value in layers.items():  # cause
        x = x * value if name == "double" else x + value
    return x


print(step(torch.ones(2)))
layers.move_to_end("double")
print(step(torch.ones(2)))
