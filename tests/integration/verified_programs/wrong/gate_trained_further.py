"""Inductor has folded the weights of a gate into what it compiled; the program has trained it since.

After pytorch/pytorch#103582.
kind: value
stage: guards
"""

import torch
import torch._inductor.config

torch._inductor.config.freezing = True


class Gated(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.value = torch.nn.Linear(width, width)
        self.gate = torch.nn.Linear(width, width)

    def opened(self, x):
        return torch.sigmoid(self.gate(x))  # cause

    def forward(self, x):
        value = torch.tanh(self.value(x))
        return value * self.opened(x)


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 4)
        self.blocks = torch.nn.ModuleList(Gated(4) for _ in range(2))

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = x + block(x)
        return x.sum(dim=1)


torch.manual_seed(0)
stack = Stack().eval()
served = torch.compile(stack)
x = torch.linspace(-1.0, 1.0, 6).reshape(2, 3)
with torch.no_grad():
    print(served(x))
    for parameter in stack.blocks[1].gate.parameters():
        parameter.sub_(1.5)
    print(served(x))
