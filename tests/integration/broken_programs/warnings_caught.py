"""Warnings are switched off inside.

kind: graph break
advice: outside
"""

import warnings

import torch


@torch.compile(backend="eager")
def quiet(x):
    y = x.sin()
    with warnings.catch_warnings():  # cause
        warnings.simplefilter("ignore")
        y = y * 2
    return y.cos()


print(quiet(torch.ones(2)).tolist())
