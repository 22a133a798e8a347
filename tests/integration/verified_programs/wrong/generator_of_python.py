"""The numbers of a generator of Python's own are drawn once, and then repeated.

An idea of our own.
kind: value
stage: guards
"""

import random

import torch

numbers = random.Random(0)


@torch.compile(backend="eager")
def step(x):
    scale = numbers.random()  # cause
    return x * scale


print(step(torch.ones(2)))
print(step(torch.ones(2)))
