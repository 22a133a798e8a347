"""A list that is filled in a function that checkpoint runs.

kind: graph break
advice: out of that function
"""

import torch
from torch.utils.checkpoint import checkpoint

seen = []


def block(x):
    y = x.sin()
    seen.append(y.shape[0])  # cause
    return y * 2


@torch.compile(backend="eager")
def forward(x):
    return checkpoint(block, x + 1, use_reentrant=False).sum()


with torch.no_grad():
    for value in (1.0, 2.0):
        print(forward(torch.full((4,), value)).item())
