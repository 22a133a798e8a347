"""A flag among the arguments.

kind: recompile
advice: outside
"""

import torch


@torch.compile(backend="eager")
def scaled(x, double):
    if double:  # cause
        x = x * 2
    return x + 1


for double in (False, True, False):
    print(scaled(torch.ones(4), double).tolist())
