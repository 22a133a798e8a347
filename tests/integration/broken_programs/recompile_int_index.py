"""A number that chooses a layer.

kind: recompile
advice: outside
"""

import torch


class Experts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(4)])

    def forward(self, x, i):
        return self.layers[i](x)  # cause


torch.manual_seed(0)
experts = torch.compile(Experts(), backend="eager")
for i in range(4):
    print(round(experts(torch.ones(2, 4), i).sum().item(), 4))
