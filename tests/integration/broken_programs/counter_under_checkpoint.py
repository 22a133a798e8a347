"""A module that counts its calls, under checkpoint.

kind: graph break
advice: not in the function that it runs
"""

import torch
from torch.utils.checkpoint import checkpoint


class Statistics:
    calls = 0


statistics = Statistics()


def block(x):
    statistics.calls += 1
    return x.sin() * 2


@torch.compile(backend="eager")
def forward(x):
    return checkpoint(block, x + 1, use_reentrant=False).sum()  # cause


with torch.no_grad():
    for value in (1.0, 2.0):
        print(forward(torch.full((4,), value)).item(), statistics.calls)
