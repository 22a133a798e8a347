"""A method is compiled, and changes its object."""

import torch


class Meter:
    def __init__(self):
        self.total = torch.zeros(())
        self.values = {}

    @torch.compile(backend="aot_eager")
    def add(self, name, x):
        self.total = self.total + x.sum()
        self.values[name] = self.values.get(name, 0) + 1
        return self.total


meter = Meter()
for name in ("a", "b", "a"):
    print(meter.add(name, torch.ones(3)))
print(meter.values)
