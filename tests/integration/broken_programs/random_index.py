"""A number drawn by `random` chooses a layer.

kind: graph break
advice: before the call
"""

import random

import torch


class Choice(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        x = x.relu()
        layer = self.layers[random.randrange(3)]  # cause
        return layer(x)


torch.manual_seed(0)
random.seed(0)
model = torch.compile(Choice(), backend="eager")
for _ in range(4):
    print(model(torch.ones(4)).sum().item())
