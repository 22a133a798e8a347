"""A kernel chooses its block by the architecture, for which it asks a cached function.

kind: graph break
advice: before the call of

Made after https://github.com/ROCm/aiter/pull/2688
"""

import functools
import os

import torch


@functools.lru_cache(maxsize=1)
def architecture():
    return os.uname().machine  # cause


def blocked(x):
    size = 4 if architecture() == "x86_64" else 2
    return x.view(-1, size).cumsum(1).flatten()


@torch.compile(backend="eager")
def scaled(x):
    return blocked(x * 2).sin()


for start in (0.0, 1.0):
    print(round(scaled(torch.linspace(start, 1, 8)).sum().item(), 4))
