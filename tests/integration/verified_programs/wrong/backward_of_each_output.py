"""Two outputs that have nothing in common have one backward: the second one raises.

An idea of our own.
kind: exception
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def step(x):
    return x * 2, x.exp()  # cause


x = torch.ones(2, requires_grad=True)
doubled, grown = step(x)
doubled.sum().backward()
try:
    grown.sum().backward()
except RuntimeError as error:
    print(type(error).__name__)
print(x.grad)
