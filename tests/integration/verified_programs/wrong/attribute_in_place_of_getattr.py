"""An object has an attribute now for which its class's `__getattr__` answered before.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Defaults:
    def __getattr__(self, name):
        return 2.0


options = Defaults()


@torch.compile(backend="eager")
def step(x):
    y = x + 1
    return y * options.scale  # cause


print(step(torch.ones(2)))
options.scale = 5.0
print(step(torch.ones(2)))
