"""Whether a tensor is a view is what it was in the first call.

An idea of our own.
kind: value
stage: guards
"""

import torch


@torch.compile(backend="eager")
def step(x):
    return x * (2 if x._base is None else 3)  # cause


whole = torch.ones(4)
print(step(whole), step(whole[:]))
