"""Groups of `itertools.groupby` that are read too late are not empty.

An idea of our own.
kind: structure
stage: tracing
"""

import itertools

import torch


@torch.compile(backend="eager")
def step(x):
    groups = list(itertools.groupby([1, 1, 2]))  # cause
    return x * 2, [list(group) for _, group in groups]


print(step(torch.ones(2)))
