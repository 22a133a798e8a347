"""A counter that a method raises on its base class is read through the class below, in a loop.

An idea of our own.

kind: value
stage: tracing
"""

import torch
from torch import nn


class Registry:
    depth = 1


class Layers(Registry):
    def level(self) -> int:
        current = self.depth  # cause
        return current + 1


def deeper(levels: Layers) -> int:
    Registry.depth = 4
    return levels.level()


class Pyramid(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.levels = Layers()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        x = self.lin(x)
        for _ in range(2):
            level = deeper(self.levels)
            x = x * level
        return torch.tanh(x * 0.01)


torch.manual_seed(0)
net = torch.compile(nn.Sequential(nn.Linear(4, 4), Pyramid()))
with torch.no_grad():
    print(round(net(torch.ones(2, 4)).sum().item(), 4))
