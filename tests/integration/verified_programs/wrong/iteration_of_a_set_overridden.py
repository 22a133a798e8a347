"""A subclass of set that iterates otherwise compares unequal.

After pytorch/pytorch#186671.
kind: value
stage: tracing
"""

import torch


class Listed(set):
    def __iter__(self):
        return iter([99])


@torch.compile(backend="eager")
def step(x, first, second):
    return x + 1 if first == second else x - 1  # cause


print(step(torch.ones(2), {1, 2}, Listed({1, 2})))
