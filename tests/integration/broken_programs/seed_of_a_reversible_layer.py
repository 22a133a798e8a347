"""A reversible layer keeps its seed, and sets it, in a method of its own.

kind: graph break
advice: all of it

Made after https://github.com/pytorch/pytorch/issues/101154
"""

import torch
from torch import nn


class ReversibleLayer(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.mix = nn.Linear(dim, dim)
        self.seed = 0

    def keep_seed(self):
        self.seed = torch.initial_seed() % 1000  # cause
        torch.manual_seed(self.seed)

    def forward(self, x):
        y = self.mix(x).relu()
        self.keep_seed()
        return y + nn.functional.dropout(y, 0.5, self.training)


torch.manual_seed(1234)
layer = ReversibleLayer()
run = torch.compile(layer, backend="eager")
for _ in range(3):
    print(round(run(torch.ones(2, 4)).sum().item(), 4), layer.seed)
