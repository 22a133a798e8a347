"""A branch on a number that numpy draws.

kind: graph break
advice: before the call
"""

import numpy as np
import torch


@torch.compile(backend="eager")
def dropped(x):
    y = x.sin()
    if np.random.rand() < 0.5:  # cause
        y = y * 0
    return y + 1


np.random.seed(0)
for _ in range(3):
    print(dropped(torch.ones(2)).tolist())
