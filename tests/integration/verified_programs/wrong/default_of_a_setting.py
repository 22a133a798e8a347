"""A setting that was missing in the module in the first call is there now.

An idea of our own.
kind: value
stage: guards
"""

import types

import torch

settings = types.ModuleType("settings")


class Reader:
    def __init__(self, module):
        self.module = module

    def value(self, name, otherwise):
        return getattr(self.module, name, otherwise)  # cause

    def is_deep(self):
        depth = self.value("depth", 1)
        return depth > 1


class Body(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.reader = Reader(settings)

    def forward(self, x):
        x = self.inner(x)
        if self.reader.is_deep():
            x = self.inner(x)
        return torch.sigmoid(x)


torch.manual_seed(0)
body = torch.compile(Body(), backend="eager")
print(body(torch.ones(1, 3)).tolist())
settings.depth = 2
print(body(torch.ones(1, 3)).tolist())
