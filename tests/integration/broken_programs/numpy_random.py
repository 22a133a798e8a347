"""Noise drawn by numpy.

kind: graph break
advice: before the call
"""

import numpy as np
import torch


@torch.compile(backend="eager")
def noisy(x):
    y = x.sin()
    noise = np.random.default_rng(0).normal(size=3)  # cause
    return y + torch.from_numpy(noise)


print(noisy(torch.tensor([0.0, 1.0, 2.0])).tolist())
