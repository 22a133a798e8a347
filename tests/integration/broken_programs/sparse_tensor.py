"""A sparse tensor is made inside.

kind: graph break
advice: dense
"""

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    s = y.to_sparse()  # cause
    return torch.sparse.mm(s, y)


print(model(torch.ones(2, 2)).tolist())
