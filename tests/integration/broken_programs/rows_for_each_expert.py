"""Each expert fills the rows that chose it, where there are any.

kind: fell back to eager
advice: leave out the branch

Made after a pattern common in mixtures of experts (`if mask.any()`).
"""

import torch
from torch import nn


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 3)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        chosen = self.gate(x).argmax(-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            mask = chosen == number
            if mask.any():  # cause
                rows = expert(x[mask])
                out[mask] = rows * 2
        return out


torch.manual_seed(0)
model = torch.compile(Router(), backend="eager")
for _ in range(3):
    print(round(model(torch.randn(6, 8)).sum().item(), 3))
