"""A function that applies a layer is compiled once, and is given another layer in each call.

kind: recompile
advice: dynamic=True

Made after https://github.com/pytorch/pytorch/issues/134954
"""

import torch
from torch import nn


class Shifted(nn.Module):
    def __init__(self, width, shift):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.shift = shift

    def forward(self, x):
        return torch.sin(self.proj(x) + self.shift)  # cause


@torch.compile(backend="eager")
def apply_layer(layer, x):
    y = layer(x)
    return x + y / y.norm()


class Stack(nn.Module):
    def __init__(self, depth=10, width=6):
        super().__init__()
        self.layers = nn.ModuleList(Shifted(width, 0.1 * number) for number in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = apply_layer(layer, x)
        return x


torch.manual_seed(0)
stack = Stack().eval()
with torch.no_grad():
    for _ in range(3):
        print(round(stack(torch.randn(2, 6)).sum().item(), 4))
