"""A tensor that needs a gradient in some calls.

kind: recompile
advice: requires_grad_()
"""

import torch


@torch.compile(backend="eager")
def doubled(x):
    return (x * 2).sum()  # cause


for needs in (False, True):
    print(doubled(torch.ones(4, requires_grad=needs)).item())
