"""A branch on a value inside `try`, from where torch cannot go on.

kind: graph break
advice: torch.where
"""

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin().cos()
    try:
        if y.sum() > 0:  # cause
            y = y + 1
    except ValueError:
        pass
    return y * 2


print(model(torch.ones(3)).tolist())
