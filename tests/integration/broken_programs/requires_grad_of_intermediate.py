"""A tensor made inside is set to require a gradient, and returned.

kind: graph break
advice: requires_grad
"""

import torch


@torch.compile(backend="eager")
def leaf(x):
    y = x.sin().detach()
    y.requires_grad_()  # cause
    return y * 2


print(leaf(torch.ones(2)).tolist())
