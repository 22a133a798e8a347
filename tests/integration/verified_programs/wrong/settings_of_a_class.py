"""`update` of a dictionary of the program's, behind a helper, does not go by its own `__setitem__`.

An idea of our own.
kind: value
stage: tracing
"""

import collections

import torch


class Percentages(collections.OrderedDict):
    def __setitem__(self, name, share):
        super().__setitem__(name, share / 100.0)


def shares_of(names, first):
    shares = Percentages()
    shares.update({name: first + number for number, name in enumerate(names)})  # cause
    return shares


class Blend(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.names = ("left", "right")
        self.weight = torch.nn.Parameter(torch.linspace(0.5, 1.5, 4))

    def blended(self, x, shares):
        total = torch.zeros_like(x)
        for name in self.names:
            share = shares[name]
            total = total + x.sin() * share
        return total

    def forward(self, x):
        shares = shares_of(self.names, 50.0)
        x = x * self.weight
        y = self.blended(x, shares)
        return y + x.mean()


blend = torch.compile(Blend(), backend="eager")
with torch.no_grad():
    print(blend(torch.arange(4.0)).tolist())
