"""A global counter and a global list are changed in each call."""

import torch

count = 0
shapes = []


@torch.compile(backend="eager")
def step(x):
    global count
    count += 1
    shapes.append(tuple(x.shape))
    return x + count


for size in (2, 3, 4):
    print(step(torch.zeros(size)))
print(count, shapes)
