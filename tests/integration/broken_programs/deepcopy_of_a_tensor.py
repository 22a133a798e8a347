"""A tensor is copied by `copy.deepcopy`.

kind: graph break
advice: .clone()
"""

import copy

import torch


@torch.compile(backend="eager")
def kept(x):
    y = x.sin()
    before = copy.deepcopy(x)  # cause
    return y + before


print(kept(torch.ones(2)).tolist())
