"""The function returns the id of an object that it makes."""

import torch


class Holder:
    def __init__(self, value):
        self.value = value


@torch.compile(backend="eager")
def step(x):
    holder = Holder(x * 2)
    holder.number = len([holder])
    return holder


print([step(torch.ones(2)).value for _ in range(3)])
