"""The `add` of a subclass of set adds something else: nothing is added to the program's set.

An idea of our own.
kind: mutation
stage: tracing
"""

import torch


class Doubling(set):
    def add(self, value):
        super().add(value * 2)  # cause


@torch.compile(backend="eager")
def step(x, seen):
    seen.add(4)
    return x * len(seen)


seen = Doubling([1])
print(step(torch.ones(2), seen), sorted(seen))
