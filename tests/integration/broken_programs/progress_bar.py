"""A progress bar around a loop.

kind: fell back to eager
advice: without it
"""

import torch
from torch.hub import tqdm


@torch.compile(backend="eager")
def model(x):
    for _ in tqdm(range(3), disable=True):  # cause
        x = x.sin()
    return x


print(model(torch.ones(2)).tolist())
