"""Whether the layers of a stack have hooks is what it was in the first call.

An idea of our own.

kind: value
stage: guards
"""

import torch
from torch import nn


class Probe:
    def extra(self, layers) -> float:
        count = 0
        for layer in layers:
            count += len(layer._backward_hooks)  # cause
        return 1.0 + count


class Stack(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.probe = Probe()

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        factor = self.probe.extra([self])
        return x * factor


torch.manual_seed(0)
stack = Stack()
compiled = torch.compile(stack)
x = torch.ones(2, 4)
with torch.no_grad():
    print(round(compiled(x).sum().item(), 4))
    stack.register_full_backward_hook(lambda module, given, made: None)
    print(round(compiled(x).sum().item(), 4))
