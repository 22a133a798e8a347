"""Whether two tensors are one, by their addresses.

kind: graph break
advice: is
"""

import torch


@torch.compile(backend="eager")
def added(x, y):
    z = x.sin()
    if x.data_ptr() == y.data_ptr():  # cause
        return z * 2
    return z + y


print(added(torch.ones(2), torch.zeros(2)).tolist())
