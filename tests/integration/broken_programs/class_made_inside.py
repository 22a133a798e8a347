"""A class is defined inside.

kind: graph break
advice: class
"""

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()

    class Scale:  # cause
        value = 2

    return y * Scale.value


print(model(torch.ones(3)).tolist())
