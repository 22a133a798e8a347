"""A layer counts its calls, and reports the mean of its input in every third one.

kind: graph break
advice: take `if self.calls % self.log_every == 0:`

Made after a pattern common in debugging layers (`self.step % self.log_every`).
"""

import torch
from torch import nn


class Watched(nn.Module):
    def __init__(self, width, log_every=3):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.log_every = log_every
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls % self.log_every == 0:
            print(f"call {self.calls}: mean {x.mean():.3f}")  # cause
        return torch.relu(self.linear(x))


def main():
    torch.manual_seed(0)
    layer = Watched(6)
    compiled = torch.compile(layer, backend="eager")
    with torch.no_grad():
        for _ in range(12):
            out = compiled(torch.randn(4, 6))
    print(layer.calls, tuple(out.shape))


main()
