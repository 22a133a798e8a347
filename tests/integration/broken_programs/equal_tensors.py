"""Whether two tensors are equal decides.

kind: graph break
advice: torch.where
"""

import torch


@torch.compile(backend="eager")
def model(x, y):
    z = x.sin()
    if torch.equal(z, y):  # cause
        return z * 2
    return z + y


print(model(torch.ones(2), torch.ones(2)).tolist())
