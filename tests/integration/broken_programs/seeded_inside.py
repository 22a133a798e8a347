"""Random numbers are seeded inside.

kind: graph break
advice: manual_seed
"""

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    torch.manual_seed(0)  # cause
    return y.cos()


print(model(torch.ones(2)).tolist())
