"""Two inputs whose sizes are equal in some calls.

kind: recompile
advice: decide by it outside
"""

import torch


@torch.compile(backend="eager", dynamic=True)
def joined(x, y):
    if x.shape[0] == y.shape[0]:  # cause
        return x + y
    return torch.cat([x, y])


for rows in (4, 5, 6):
    print(joined(torch.ones(4), torch.zeros(rows)).sum().item())
