"""What is in an object of the class is decided otherwise now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Frozen:
    """Names of layers that are not to be scaled."""

    def __init__(self, names):
        self.names = names

    def __contains__(self, name):
        return name in self.names


class Scaled(torch.nn.Module):
    def __init__(self, name, frozen):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))
        self.name = name
        self.frozen = frozen

    def forward(self, x):
        x = x + self.weight
        if self.name in self.frozen:  # cause
            return x
        return x * 2.0


class Stack(torch.nn.Module):
    def __init__(self, frozen):
        super().__init__()
        self.layers = torch.nn.ModuleList([Scaled(name, frozen) for name in ("low", "mid", "top")])

    def forward(self, x):
        x = x / x.norm()
        for layer in self.layers:
            x = layer(x) + 0.1
        return x


stack = torch.compile(Stack(Frozen({"mid"})), backend="eager")
x = torch.ones(1, 4)
print(stack(x).detach())
Frozen.__contains__ = lambda self, name: name == "top"
print(stack(x).detach())
