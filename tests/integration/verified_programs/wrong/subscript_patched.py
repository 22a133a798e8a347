"""The class gives another item now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Rates:
    def __getitem__(self, name):
        return 2.0


rates = Rates()


def scaled(x):
    return x * rates["first"]  # cause


@torch.compile(backend="eager")
def step(x):
    return scaled(x + 1).sum()


print(step(torch.ones(2)))
Rates.__getitem__ = lambda self, name: 5.0
print(step(torch.ones(2)))
