"""A set has a number of another type now, which is equal to the former one.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Kinds:
    """Which values are whole numbers, as the parser left them."""

    def __init__(self, values):
        self.values = set(values)

    def whole(self):
        return [each for each in self.values if isinstance(each, int)]  # cause


class Binning(torch.nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.kinds = kinds
        self.width = torch.nn.Parameter(torch.ones(3))

    def step(self):
        whole = self.kinds.whole()
        return 1.0 if whole else 0.5

    def forward(self, values):
        values = values * self.width
        step = self.step()
        return torch.floor(values / step) * step


kinds = Kinds([2])
model = torch.compile(Binning(kinds), backend="eager")
batch = torch.tensor([1.2, 2.7, 4.6])
print(model(batch).tolist())
kinds.values = {2.0}
print(model(batch).tolist())
