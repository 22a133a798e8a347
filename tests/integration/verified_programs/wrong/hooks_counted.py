"""How many hooks a layer has is what it was in the first call.

An idea of our own.

kind: value
stage: guards
"""

import torch
from torch import nn


def watched(layer: nn.Module) -> int:
    return len(layer._forward_hooks)  # cause


class Watched(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.gain = 0.5

    def forward(self, x):
        y = self.inner(x)
        y = y * self.gain
        scale = 1.0 + watched(self)
        return torch.relu(y) * scale


torch.manual_seed(0)
net = Watched()
compiled = torch.compile(net)
x = torch.ones(2, 4)
print(compiled(x).sum().item())
net.register_forward_hook(lambda module, given, result: None)
print(net(x).sum().item() and compiled(x).sum().item())
