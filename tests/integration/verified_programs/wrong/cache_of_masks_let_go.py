"""A mask that a helper lets go is still there for the weak reference of the cache.

An idea of our own, after reports of weak references under torch.compile.
kind: value
stage: tracing
"""

import weakref

import torch


class Mask:
    def __init__(self, length):
        self.length = length


class MaskCache:
    def __init__(self):
        self.known = {}

    def made(self, length):
        mask = Mask(length)
        self.known[length] = weakref.ref(mask)
        return mask

    def weight(self, length):
        mask = self.known[length]()  # cause
        return 1.0 if mask is None else 0.25


def lengths_of(cache, lengths):
    total = 0
    for length in lengths:
        total += cache.made(length).length
    return total


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.project = torch.nn.Linear(3, 3)

    def forward(self, x):
        cache = MaskCache()
        x = torch.tanh(self.project(x)) * lengths_of(cache, (2, 4))
        for length in (2, 4):
            x = x + cache.weight(length)
        return x.mean(dim=1)


torch.manual_seed(0)
encoder = torch.compile(Encoder(), backend="eager")
with torch.no_grad():
    print([round(each, 4) for each in encoder(torch.ones(2, 3)).tolist()])
