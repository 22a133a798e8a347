"""The time is taken in the middle.

kind: graph break
advice: clock
"""

import time

import torch

taken = []


@torch.compile(backend="eager")
def timed(x):
    start = time.perf_counter()  # cause
    y = x.sin()
    taken.append(time.perf_counter() - start)
    return y.cos()


print(timed(torch.ones(2)).tolist(), len(taken))
