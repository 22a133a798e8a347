"""A cache in a dictionary fills as the function is called."""

import torch

cache = {}


@torch.compile(backend="eager")
def mask(x):
    size = x.shape[0]
    if size not in cache:
        cache[size] = torch.ones(size, size).tril()
    return cache[size] @ x


for size in (2, 3, 2, 3):
    print(mask(torch.ones(size)))
print(sorted(cache))
