"""`__getattr__` of a class is another one now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Settings:
    def __getattr__(self, name):
        return 2.0


settings = Settings()


@torch.compile(backend="eager")
def step(x):
    return x * settings.scale  # cause


print(step(torch.ones(2)))
Settings.__getattr__ = lambda self, name: 9.0
print(step(torch.ones(2)))
