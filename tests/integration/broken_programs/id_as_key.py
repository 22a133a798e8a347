"""A cache by `id`.

kind: graph break
advice: id
"""

import torch

cache = {}


@torch.compile(backend="eager")
def cached(x):
    y = x.sin()
    cache[id(y)] = 1  # cause
    return y.cos()


print(cached(torch.ones(2)).tolist(), len(cache))
