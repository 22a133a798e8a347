import warnings

import torch


@torch.compile(backend="eager")
def warned(x):
    y = x.sin()
    return y.cos()


warnings.warn("this is old", DeprecationWarning)
print(warned(torch.ones(2)).tolist())
