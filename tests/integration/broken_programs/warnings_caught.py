"""Warnings are switched off inside.

kind: fell back to eager
advice: out of the compiled code
"""

import warnings

import torch


@torch.compile(backend="eager")
def quiet(x):
    y = x.sin()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cause
        y = y * 2
    return y.cos()


print(quiet(torch.ones(2)).tolist())
