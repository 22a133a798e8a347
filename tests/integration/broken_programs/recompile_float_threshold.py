"""A branch on whether a rate is large.

kind: recompile
advice: outside
"""

import torch


@torch.compile(backend="eager", dynamic=True)
def updated(x, rate):
    if rate > 0.3:  # cause
        return x * rate
    return x - rate


for rate in (0.5, 0.4, 0.2, 0.1):
    print(round(updated(torch.ones(4), rate).sum().item(), 4))
