"""An attribute of the metaclass has another value now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Meta(type):
    scale = 2.0


class Settings(metaclass=Meta):
    pass


@torch.compile(backend="eager")
def step(x):
    return x * Settings.scale  # cause


print(step(torch.ones(2)))
Meta.scale = 9.0
print(step(torch.ones(2)))
