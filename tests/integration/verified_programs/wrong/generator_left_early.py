"""A generator that is left before its end is not closed.

An idea of our own.
kind: mutation
stage: tracing
"""

import torch

closed = []


def factors():
    try:
        yield 2.0
        yield 3.0
    finally:
        closed.append(True)


@torch.compile(backend="eager")
def step(x):
    for factor in factors():  # cause
        x = x * factor
        break
    return x


print(step(torch.ones(2)))
print(closed)
