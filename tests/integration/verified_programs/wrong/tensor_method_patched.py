"""A method of torch.Tensor that is replaced later is not noticed.

An idea of our own.
kind: value
stage: guards
"""

import torch


@torch.compile(backend="aot_eager")
def step(x):
    y = x.relu()  # cause
    return y + 1


print(step(-torch.ones(2)))
original = torch.Tensor.relu
torch.Tensor.relu = lambda self: self.abs()
print(step(-torch.ones(2)))
torch.Tensor.relu = original
