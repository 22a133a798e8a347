"""A cache that is one tensor longer in each step.

kind: recompile limit
advice: one tensor
"""

import torch


@torch.compile(backend="eager")
def attended(x, cache):
    return x + sum(cache)  # cause


cache = []
for _ in range(12):
    cache.append(torch.ones(4))
    print(attended(torch.ones(4), cache).tolist())
