"""A module's class has another `forward` now.

After pytorch/pytorch#117265.
kind: value
stage: guards
"""

import torch


class Layer(torch.nn.Module):
    def forward(self, x):
        return x * 2


layer = Layer()


@torch.compile(backend="eager")
def step(x):
    return layer(x)  # cause


print(step(torch.ones(2)))
Layer.forward = lambda self, x: x * 9
print(step(torch.ones(2)))
