"""A module is copied.

kind: graph break
advice: make the copy before
"""

import copy

import torch

torch.manual_seed(0)
layer = torch.nn.Linear(2, 2)


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    other = copy.deepcopy(layer)  # cause
    return other(y)


print(model(torch.ones(2)).tolist())
