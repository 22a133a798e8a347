"""A queue that is full keeps what it should drop.

An idea of our own.
kind: value
stage: tracing
"""

import collections

import torch


@torch.compile(backend="eager")
def step(x, recent):
    recent.append(4.0)
    recent.rotate(1)
    recent.appendleft(9.0)  # cause
    return x * sum(recent)


print(step(torch.ones(2), collections.deque([1.0, 2.0, 3.0], maxlen=3)))
