"""A second derivative raises.

An idea of our own.
kind: exception
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def cube(x):
    return (x * x * x).sum()  # cause


x = torch.full((2,), 2.0, requires_grad=True)
try:
    (slope,) = torch.autograd.grad(cube(x), x, create_graph=True)
    (bend,) = torch.autograd.grad(slope.sum(), x)
    print(bend)
except RuntimeError as error:
    print(type(error).__name__)
