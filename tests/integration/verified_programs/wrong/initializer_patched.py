"""Objects of the class begin with another value now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Scale:
    def __init__(self):
        self.value = 2.0


def start_with_five(self):
    self.value = 5.0


@torch.compile(backend="eager")
def step(x):
    scale = Scale()
    return x * scale.value  # cause


print(step(torch.ones(2)))
Scale.__init__ = start_with_five
print(step(torch.ones(2)))
