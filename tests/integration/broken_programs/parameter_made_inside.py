"""A parameter is made in forward.

kind: graph break
advice: __init__
"""

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    weight = torch.nn.Parameter(y)  # cause
    return weight * 2


print(model(torch.ones(3)).tolist())
