"""A module has an option now that it did not have in the first call, so that a default was taken.

An idea of our own.
kind: value
stage: guards
"""

import sys

import torch

here = sys.modules[__name__]


class Clipper:
    def __init__(self, owner):
        self.owner = owner

    def limit(self):
        return getattr(self.owner, "LIMIT", 1.0)  # cause

    def clip(self, x):
        limit = self.limit()
        return x.clamp(-limit, limit)


class Regressor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((4, 2), 3.0))
        self.clipper = Clipper(here)

    def forward(self, x):
        y = x @ self.weight
        y = self.clipper.clip(y)
        return y * 2.0 + 1.0


regressor = torch.compile(Regressor(), backend="eager")
x = torch.ones(1, 4)
print(regressor(x).tolist())
here.LIMIT = 5.0
print(regressor(x).tolist())
