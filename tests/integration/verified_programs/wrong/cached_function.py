"""A function with a cache is executed again although it has its answer.

An idea of our own.
kind: mutation
stage: tracing
"""

import functools

import torch

calls = []


@functools.lru_cache
def scale(size):
    calls.append(size)  # cause
    return 1.0 / size


@torch.compile(backend="eager")
def step(x):
    return x * scale(4)


for size in (2, 3):
    step(torch.ones(size))
print(calls)
