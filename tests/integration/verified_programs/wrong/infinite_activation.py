"""The activation of an infinite score is infinite, where eager gives no number, which the program replaces.

An idea of our own.
kind: value
stage: decompositions
needs: AVX-512
"""

import torch
import torch.nn.functional as F


class Scores(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = 1.0

    def activated(self, x):
        x = x * 2.0 + self.shift
        x = F.gelu(x)  # cause
        return torch.where(torch.isnan(x), 0.0, x)

    def forward(self, x):
        x = 1.0 / x
        x = self.activated(x)
        return torch.tanh(x * 0.1)


scores = torch.compile(Scores())
print(scores(torch.linspace(-4.0, 4.0, 33)))
