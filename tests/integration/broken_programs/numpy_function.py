"""A function of numpy's that torch does not know.

kind: graph break
advice: torch
"""

import numpy as np
import torch


@torch.compile(backend="eager")
def resampled(x):
    y = x.sin().numpy()
    y = np.interp([0.5, 1.5], [0.0, 1.0, 2.0], y)  # cause
    return torch.from_numpy(y) * 2


print(resampled(torch.tensor([0.0, 1.0, 2.0])).tolist())
