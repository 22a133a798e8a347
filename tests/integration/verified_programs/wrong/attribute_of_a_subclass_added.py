"""The module's class has an attribute of its own now, in place of its base's.

After pytorch/pytorch#176851.
kind: value
stage: guards
"""

import torch


class Base:
    scale = 2.0


class Layer(Base, torch.nn.Module):
    def forward(self, x):
        return x * self.scale  # cause


layer = Layer()
step = torch.compile(layer, backend="eager")


print(step(torch.ones(2)))
Layer.scale = 11.0
print(step(torch.ones(2)))
