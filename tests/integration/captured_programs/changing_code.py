"""Globals, attributes, methods and functions of torch that are replaced between calls."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
SCALE = 2.0


class Net(nn.Module):
    offset = 1.0

    def forward(self, x):
        return self.helper(x) * SCALE + self.offset

    def helper(self, x):
        return F.relu(x)


def shout(x):
    return x - 100


model, x = Net(), torch.tensor([-1.0, 2.0])
print(model(x).tolist())
SCALE = 3.0
print(model(x).tolist())
Net.offset = 5.0
print(model(x).tolist())
model.offset = 7.0
print(model(x).tolist())
relu, F.relu = F.relu, lambda t: t.abs()
print(model(x).tolist())
F.relu = relu
model.helper = shout
print(model(x).tolist())
model.forward = lambda v: v * 0
print(model(x).tolist())
del model.forward, model.helper
Net.helper = lambda self, v: v.neg()
print(model(x).tolist())
Net.__call__ = lambda self, v: "called"
print(model(x))
