"""Augments 8,000 small images: a branch on a value in each, and a flag that is switched for the last one.

The branch costs a stop in each call; the flag compiles a small function once more.
"""
# first: bright
# cure bright: x - 0.1 if x.mean() > 0.5 else x => torch.where(x.mean() > 0.5, x - 0.1, x)
# cure flag: number == COUNT - 1 => False

import torch

COUNT = 8000


def augmented(x, is_last):
    x = x.flip(-1) * 1.01
    x = x - 0.1 if x.mean() > 0.5 else x  # cause: bright
    if is_last:  # cause: flag
        x = x.abs()
    return x.clamp(0, 1)


augment = torch.compile(augmented, backend="eager")
x = torch.full((3, 16, 16), 0.2)
for number in range(COUNT):
    x = augment(x, number == COUNT - 1)
print(x.shape)
