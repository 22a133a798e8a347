"""A helper that is kept out of compiled code.

kind: graph break
advice: disable
"""

import torch


@torch.compiler.disable
def helper(x):
    return x + 1


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    y = helper(y)  # cause
    return y.cos()


print(model(torch.ones(2)).tolist())
