"""The backward computes anew from a temperature that was changed through `.data` since the forward.

After reports that a compiled backward computes again what the forward had, from what is no longer the same.

kind: gradient
stage: AOTAutograd
"""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(4, 4, bias=False)
        self.register_buffer("temperature", torch.tensor([0.5, 1.0, 1.5, 2.0]))

    def sharpened(self, scores):
        sharp = self.temperature.sin()
        return scores * sharp  # cause

    def forward(self, x):
        scores = self.query(x)
        scores = self.sharpened(scores)
        return torch.tanh(scores)


torch.manual_seed(0)
net = Attention()
compiled = torch.compile(net)
x = torch.randn(2, 4)
loss = compiled(x).sum()
net.temperature.data.mul_(0.1)
loss.backward()
print(round(net.query.weight.grad.abs().sum().item(), 4))
