"""A cache by `id`.

kind: fell back to eager
advice: a key of your own
"""

import torch

cache = {}


@torch.compile(backend="eager")
def cached(x):
    y = x.sin()
    cache[id(y)] = 1
    return y.cos()  # cause


print(cached(torch.ones(2)).tolist(), len(cache))
