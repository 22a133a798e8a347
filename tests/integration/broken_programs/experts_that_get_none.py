"""Tokens are picked for each expert, and an expert that gets none is left out.

kind: fell back to eager
advice: with a mask

Made after a pattern common in mixtures of experts (`if part.shape[0] > 0`).
"""

import torch
from torch import nn


class Switch(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))

    def forward(self, x):
        route = self.gate(x).argmax(-1)
        total = torch.zeros(8)
        for number, expert in enumerate(self.experts):
            index = torch.nonzero(route == number).squeeze(-1)  # cause
            part = x.index_select(0, index)
            if part.shape[0] > 0:
                total = total + expert(part).sum(0)
        return total


torch.manual_seed(0)
model = torch.compile(Switch(), backend="eager")
with torch.no_grad():
    for _ in range(3):
        print(round(model(torch.randn(16, 8)).sum().item(), 3))
