"""A warning of a category, which torch cannot put off.

kind: graph break
advice: out of the compiled code
"""

import warnings

import torch


@torch.compile(backend="eager")
def warned(x):
    y = x.sin()
    warnings.warn("this is old", DeprecationWarning)  # cause
    return y.cos()


print(warned(torch.ones(2)).tolist())
