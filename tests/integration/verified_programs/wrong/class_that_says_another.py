"""`__class__` is a property, which tracing does not expect.

After pytorch/pytorch#174050.
kind: exception
stage: tracing
"""

import torch


class Mask:
    @property
    def __class__(self):
        return int


mask = Mask()


@torch.compile(backend="eager")
def step(x):
    return x + 1 if isinstance(mask, int) else x - 1  # cause


try:
    print(step(torch.ones(2)))
except Exception as error:
    print(type(error).__name__)
