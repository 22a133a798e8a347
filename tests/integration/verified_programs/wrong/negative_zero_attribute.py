"""-0.0 is taken for the 0.0 that the attribute had.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Model(torch.nn.Module):
    offset = 0.0

    def forward(self, x):
        return torch.copysign(x, torch.tensor(self.offset))  # cause


model = Model()
model.offset = 0.0
model.compile(backend="eager")
print(model(torch.ones(2)))
model.offset = -0.0
print(model(torch.ones(2)))
