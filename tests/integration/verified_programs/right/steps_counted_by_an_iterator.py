"""Numbers are taken from an iterator in each call."""

import itertools

import torch

numbers = itertools.count(1)


@torch.compile(backend="eager")
def step(x, factor):
    return x * factor


for _ in range(3):
    print(step(torch.ones(2), float(next(numbers))))
