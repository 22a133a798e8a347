"""A sampler cools down by a count of its calls, which `math` turns into a temperature.

kind: recompile limit
advice: before the call

An idea of our own.
"""

import math

import torch
from torch import nn

drawn = 0


class Sampler(nn.Module):
    def __init__(self, width=6, vocabulary=10):
        super().__init__()
        self.head = nn.Linear(width, vocabulary)

    def forward(self, hidden):
        global drawn
        temperature = 0.5 + 0.5 * math.exp(-drawn / 4)  # cause
        drawn += 1
        logits = self.head(hidden) / temperature
        return logits.softmax(-1).cumsum(-1)


torch.manual_seed(0)
sampler = torch.compile(Sampler(), backend="eager")
with torch.no_grad():
    for _ in range(12):
        out = sampler(torch.randn(2, 6))
    print(drawn, round(out.sum().item(), 4))
