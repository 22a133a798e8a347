"""What backward does not need is freed while the output lives: the inputs of a sum."""

import gc
import weakref

import torch
from torch import nn

torch.manual_seed(0)
weight = nn.Parameter(torch.ones(3))


def add(x, y):
    return (x + y * 1 + weight).sum()


def scale(x):
    return (x * weight).sum()


for function, count in ((add, 2), (scale, 1)):
    for _ in range(2):
        inputs = [torch.randn(3) for _ in range(count)]
        references = [weakref.ref(t) for t in inputs]
        loss = function(*inputs)
        del inputs
        gc.collect()
        print(function.__name__, "in forward", [r() is None for r in references])
        loss.backward()
        gc.collect()
        print(function.__name__, "after backward", [r() is None for r in references], loss.item() != 0)
with torch.no_grad():
    x = torch.randn(3)
    reference = weakref.ref(x)
    loss = scale(x)
    del x
    print(reference() is None)
