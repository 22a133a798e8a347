"""The class of a descriptor gives another value now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Constant:
    def __get__(self, instance, owner):
        return 2.0


class Settings:
    scale = Constant()


settings = Settings()


@torch.compile(backend="eager")
def step(x):
    shifted = x + 1
    return shifted * settings.scale  # cause


print(step(torch.ones(2)))
Constant.__get__ = lambda self, instance, owner: 5.0
print(step(torch.ones(2)))
