"""What an object of the class gives to a loop is something else now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Stages:
    def __init__(self, *factors):
        self.factors = factors

    def __iter__(self):
        return iter(self.factors)


class Amplifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = Stages(2.0, 3.0)
        self.offset = torch.nn.Parameter(torch.tensor([0.5, 0.0, 0.25]))

    def amplified(self, values):
        for factor in self.stages:  # cause
            values = torch.tanh(values) * factor
        return values

    def forward(self, values):
        values = values + self.offset
        values = self.amplified(values)
        return values - values.mean()


def backwards(stages):
    return reversed(stages.factors)


model = torch.compile(Amplifier(), backend="aot_eager")
batch = torch.tensor([1.0, 2.0, 4.0])
print(model(batch).tolist())
Stages.__iter__ = backwards
print(model(batch).tolist())
