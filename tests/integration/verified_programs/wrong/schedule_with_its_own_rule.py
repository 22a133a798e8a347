"""`update` of a subclass of OrderedDict does not go by its own `__setitem__`.

An idea of our own.
kind: value
stage: tracing
"""

import collections

import torch


class Halved(collections.OrderedDict):
    """Rates that are halved as they come in."""

    def __setitem__(self, name, rate):
        super().__setitem__(name, rate / 2)


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(2)])

    def rates(self):
        rates = Halved()
        rates.update(first=1.0, second=0.5)  # cause
        return rates

    def forward(self, x):
        rates = self.rates()
        torch._dynamo.graph_break()
        for block, name in zip(self.blocks, ("first", "second"), strict=True):
            x = torch.tanh(block(x))
            rate = rates[name]
            x = x * rate
        return x.sum(dim=0)


torch.manual_seed(0)
stack = torch.compile(Stack(), backend="eager")
print(stack(torch.ones(2, 3)).tolist())
