"""A class method is another one now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Settings:
    @classmethod
    def scale(cls):
        return 2.0


@torch.compile(backend="eager")
def step(x):
    return x * Settings.scale()  # cause


print(step(torch.ones(2)))
Settings.scale = classmethod(lambda cls: 9.0)
print(step(torch.ones(2)))
