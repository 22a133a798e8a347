"""A lock is held around the call, and taken inside."""

import threading

import torch

outer, inner = threading.Lock(), threading.Lock()
total = [0]


@torch.compile(backend="eager")
def step(x):
    y = x * 2
    with inner:
        total[0] += 1
    return y + total[0]


for _ in range(3):
    with outer:
        print(step(torch.ones(2)))
print(inner.locked())
