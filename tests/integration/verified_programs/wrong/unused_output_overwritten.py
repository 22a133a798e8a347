"""A backward raises since an output was written that it has nothing to do with.

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
with torch.no_grad():
    grown.zero_()
try:
    doubled.sum().backward()
except RuntimeError as error:
    print(type(error).__name__)
print(x.grad)
