"""A sparse tensor is made inside.

kind: graph break
advice: outside
"""

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    return y.to_sparse()  # cause


print(model(torch.ones(2, 2)).to_dense().tolist())
