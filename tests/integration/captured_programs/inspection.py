"""Code that looks at itself: the stack's function names in forward, signatures, and locals."""

import inspect
import sys

import torch
from torch import nn

torch.manual_seed(0)


def who_called():
    return [f.function for f in inspect.stack()[1:] if f.filename == __file__]


class Net(nn.Module):
    def forward(self, x, scale: float = 2.0):
        self.names = who_called()
        frame = sys._getframe()
        self.line = frame.f_code.co_name
        return x * scale


def outer(x):
    out = Net()
    return out(x) + 1, out.names, out.line


def local_names(x):
    y = x + 1
    z = y * 2
    return z, sorted(locals())


print(outer(torch.ones(2)))
print(local_names(torch.zeros(1)))
print(inspect.signature(Net.forward), inspect.signature(outer))
print(
    inspect.getsource(local_names).count("\n"),
    Net.forward.__qualname__,
    Net().forward.__func__ is Net.forward,
)
