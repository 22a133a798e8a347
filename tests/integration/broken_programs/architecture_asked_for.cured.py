import functools
import os

import torch


@functools.lru_cache(maxsize=1)
def architecture():
    return os.uname().machine


def blocked(x, machine):
    size = 4 if machine == "x86_64" else 2
    return x.view(-1, size).cumsum(1).flatten()


@torch.compile(backend="eager")
def scaled(x, machine):
    return blocked(x * 2, machine).sin()


for start in (0.0, 1.0):
    print(round(scaled(torch.linspace(start, 1, 8), architecture()).sum().item(), 4))
