"""The class counts otherwise now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Layers:
    def __len__(self):
        return 2


layers = Layers()


@torch.compile(backend="eager")
def step(x):
    total = x.sum()
    mean = total / len(layers)  # cause
    return x - mean


print(step(torch.ones(4)))
Layers.__len__ = lambda self: 4
print(step(torch.ones(4)))
