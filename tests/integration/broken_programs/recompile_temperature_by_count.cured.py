import math

import torch
from torch import nn

drawn = 0


class Sampler(nn.Module):
    def __init__(self, width=6, vocabulary=10):
        super().__init__()
        self.head = nn.Linear(width, vocabulary)

    def forward(self, hidden, temperature):
        logits = self.head(hidden) / temperature
        return logits.softmax(-1).cumsum(-1)


torch.manual_seed(0)
sampler = torch.compile(Sampler(), backend="eager")
with torch.no_grad():
    for _ in range(12):
        temperature = torch.tensor(0.5 + 0.5 * math.exp(-drawn / 4))
        drawn += 1
        out = sampler(torch.randn(2, 6), temperature)
    print(drawn, round(out.sum().item(), 4))
