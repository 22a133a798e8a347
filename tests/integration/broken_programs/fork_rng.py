"""Random numbers are drawn with a state of their own.

kind: fell back to eager
advice: around the call
"""

import torch


@torch.compile(backend="eager")
def noisy(x):
    y = x.sin()
    with torch.random.fork_rng():  # cause
        y = y + torch.ones(2)
    return y.cos()


print(noisy(torch.ones(2)).tolist())
