"""An object of the class is false now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Flag:
    def __bool__(self):
        return True


flag = Flag()


@torch.compile(backend="eager")
def step(x):
    y = x + 1
    return y * 2 if flag else y * 3  # cause


print(step(torch.ones(2)))
Flag.__bool__ = lambda self: False
print(step(torch.ones(2)))
