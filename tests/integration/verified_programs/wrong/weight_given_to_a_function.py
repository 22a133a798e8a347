"""A function that had no weight in the first call has one now.

An idea of our own.
kind: value
stage: guards
"""

import torch


def lower(values):
    return values - values.mean()


def spread(values):
    return values * 1.5


STEPS = [lower, spread]


class Chain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3, bias=False)
        torch.nn.init.eye_(self.linear.weight)

    def weighted(self, step, values):
        weight = getattr(step, "weight", 1.0)  # cause
        changed = step(values)
        return changed * weight

    def forward(self, values):
        values = self.linear(values)
        for step in STEPS:
            values = self.weighted(step, values)
        return torch.sigmoid(values)


model = torch.compile(Chain(), backend="inductor")
batch = torch.tensor([1.0, 2.0, 4.0])
with torch.no_grad():
    print(model(batch).tolist())
    spread.weight = 0.25
    print(model(batch).tolist())
