"""A mode chooses at the beginning and at the end of a forward.

kind: recompile
advice: compile what stands between them

Made after a pattern common in models with `mode="train"` and `reduction="mean"`.
"""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 4)

    def forward(self, x, y, mode):
        if mode == "noisy":  # cause
            x = x * 2
        loss = (self.net(x).relu() - y).pow(2)
        if mode == "summed":
            return loss.sum()
        return loss.mean()


torch.manual_seed(0)
model = torch.compile(Model(), backend="eager")
for mode in ("noisy", "summed", "plain", "noisy"):
    print(round(model(torch.randn(3, 8), torch.randn(3, 4), mode).item(), 3))
