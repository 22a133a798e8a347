import functools

import torch


@functools.singledispatch
def flipped(x):
    raise TypeError(type(x))


@flipped.register
def _(x: torch.Tensor):
    return x.flip(-1)


@torch.compile(backend="eager")
def augment(x):
    y = x.sin()
    return flipped(y) * 2


flipped(torch.ones(1))
for _ in range(3):
    print(augment(torch.arange(3.0)).tolist())
