"""A write through `.data`, which autograd is not to see, makes an earlier backward raise.

An idea of our own.
kind: mutation
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def decay(x):
    x.data.mul_(0.5)  # cause


x = torch.ones(2)
weight = torch.ones(2, requires_grad=True)
loss = (x * weight).sum()
decay(x)
try:
    loss.backward()
except RuntimeError as error:
    print(type(error).__name__)
print(weight.grad)
