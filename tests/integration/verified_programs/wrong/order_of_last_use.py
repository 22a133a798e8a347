"""What is moved to the end of an OrderedDict stays where it was, once the function is left.

An idea of our own.
kind: mutation
stage: tracing
"""

from collections import OrderedDict

import torch


class Cache:
    def __init__(self):
        self.entries = OrderedDict()
        self.hits = 0

    def put(self, name, value):
        self.entries[name] = value

    def get(self, name):
        self.entries.move_to_end(name)  # cause
        self.hits += 1
        return self.entries[name]


class Served(torch.nn.Module):
    def __init__(self, cache):
        super().__init__()
        self.cache = cache

    def forward(self, x):
        x = x * self.cache.get("scale")
        return x + self.cache.get("shift")


cache = Cache()
for name in ("shift", "scale", "other"):
    cache.put(name, float(len(name)))
served = torch.compile(Served(cache), backend="eager")
print(served(torch.ones(2)))
print([*cache.entries], cache.hits)
