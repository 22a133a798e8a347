"""Garbage is collected inside.

kind: graph break
advice: call of `model`
"""

import gc

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    gc.collect()  # cause
    return y.cos()


print(model(torch.ones(2)).tolist())
