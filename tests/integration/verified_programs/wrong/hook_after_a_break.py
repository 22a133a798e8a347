"""A hook of a value that was made before a graph break is given no gradient.

After https://github.com/pytorch/pytorch/issues/91468
kind: exception
stage: AOTAutograd
"""

import torch


def triple(gradient):
    return gradient * 3  # cause


@torch.compile(backend="aot_eager")
def step(x):
    y = x * x
    z = y * x
    torch._dynamo.graph_break()
    y.register_hook(triple)
    return torch.autograd.grad(z.sum(), x)[0]


try:
    print(step(torch.arange(3.0, requires_grad=True)))
except TypeError as error:
    print("raised", type(error).__name__)
