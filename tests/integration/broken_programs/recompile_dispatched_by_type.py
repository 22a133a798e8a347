"""A function with one version for each type of its argument.

kind: recompile
advice: call the function once

Made after a pattern common in torchvision transforms (functools.singledispatch).
"""

import functools

import torch


@functools.singledispatch
def flipped(x):
    raise TypeError(type(x))


@flipped.register
def _(x: torch.Tensor):
    return x.flip(-1)


@torch.compile(backend="eager")
def augment(x):  # cause
    y = x.sin()
    return flipped(y) * 2


for _ in range(3):
    print(augment(torch.arange(3.0)).tolist())
