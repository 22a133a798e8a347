"""The compiled function takes its batches from a generator that the program goes on with."""

import torch


def batches():
    for k in range(6):
        yield torch.full((2,), float(k))


source = batches()


@torch.compile
def step(source, total):
    return total + next(source) * 2


total = torch.zeros(2)
for _ in range(3):
    total = step(source, total)
print(total, len(list(source)))
