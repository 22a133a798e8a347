"""The last losses are kept in a queue."""

import collections

import torch

recent = collections.deque()


@torch.compile(backend="eager")
def step(x):
    loss = (x * x).mean()
    recent.append(loss)
    return loss


for scale in range(3):
    step(torch.ones(2) * scale)
print([loss.item() for loss in recent])
