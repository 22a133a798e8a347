"""A custom operator that does not say what comes out of it.

kind: compiler error
advice: register_fake
"""

import torch


@torch.library.custom_op("broken::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    y = doubled(y)  # cause
    return y.cos()


try:
    print(model(torch.ones(2)).tolist())
except RuntimeError:
    print(doubled(torch.ones(2).sin()).cos().tolist())
