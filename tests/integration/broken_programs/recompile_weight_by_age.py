"""A replay buffer weighs its samples by their age, which `math.exp` needs as a number.

kind: recompile
advice: before the call, and pass that in

Made after https://github.com/pytorch/pytorch/issues/120934
"""

import math

import torch


@torch.compile(backend="eager")
def weighted(error, age):
    halves = 0.25 * age
    weight = math.exp(-halves)  # cause
    return (weight * error.pow(2)).mean()


torch.manual_seed(0)
for step in range(6):
    print(f"{weighted(torch.randn(8), 0.5 + 0.3 * step).item():.5f}")
