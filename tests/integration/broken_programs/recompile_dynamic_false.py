"""dynamic=False, and sizes that vary.

kind: recompile limit
advice: dynamic=True
"""

import torch


@torch.compile(backend="eager", dynamic=False)
def doubled(x):
    return (x * 2).sum()  # cause


for n in range(2, 14):
    print(doubled(torch.ones(n)).item())
