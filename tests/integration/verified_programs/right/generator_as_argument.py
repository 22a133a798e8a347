"""Batches come from a generator that the function advances."""

import torch


def batches():
    for number in range(6):
        yield torch.full((2,), float(number))


@torch.compile(backend="eager")
def step(source):
    return next(source) * 2


source = batches()
for _ in range(5):
    print(step(source))
