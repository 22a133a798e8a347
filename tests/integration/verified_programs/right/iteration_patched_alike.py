"""A class iterates by another method between two calls, which gives the same in the same order."""

import torch


class Stages:
    def __init__(self, *factors):
        self.factors = factors

    def __iter__(self):
        return iter(self.factors)


def one_by_one(stages):
    position = 0
    while position < len(stages.factors):
        yield stages.factors[position]
        position += 1


class Amplifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = Stages(2.0, 3.0)

    def forward(self, values):
        for factor in self.stages:
            values = torch.tanh(values) * factor
        return values


amplifier = torch.compile(Amplifier(), backend="eager")
batch = torch.tensor([1.0, 2.0, 4.0])
print(amplifier(batch).tolist())
Stages.__iter__ = one_by_one
print(amplifier(batch).tolist())
