"""A warning.

kind: graph break
advice: reorderable_logging_functions
"""

import warnings

import torch


@torch.compile(backend="eager")
def warned(x):
    y = x.sin()
    warnings.warn(f"this is old: {y.shape}")  # cause
    return y.cos()


print(warned(torch.ones(2)).tolist())
