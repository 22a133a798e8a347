"""Inductor's code reads a gradient that has no memory, as it is zero.

After pytorch/pytorch#197067.
origin: source
kind: crash
"""

import torch

rows = torch.randn(3, requires_grad=True)
(gradient,) = torch.autograd.grad(torch.sgn(rows).sum(), rows)


@torch.compile
def last(values):
    return values[-1] + 10


print(last(gradient))
