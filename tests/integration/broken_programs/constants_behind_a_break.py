"""A function that breaks the graph is called with two constants, and is compiled again for the second.

kind: graph break
advice: print after the call of
"""

import sys

import torch


def level(levels, share):
    print("a level of", list(levels.shape), file=sys.stderr)  # cause
    return levels.sort().values[0] * share


@torch.compile(backend="eager")
def spread(levels):
    low, high = level(levels, 0.25), level(levels, 0.75)
    return high - low


for seed in range(3):
    torch.manual_seed(seed)
    print(round(spread(torch.randn(8)).item(), 5))
