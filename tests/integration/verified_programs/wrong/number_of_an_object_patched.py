"""The number that an object of the class stands for is another one now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees

    def __float__(self):
        return self.degrees / 100


class Oven:
    def __init__(self):
        self.setting = Celsius(150.0)

    def heated(self, values):
        values = values - values.amin()
        warmth = float(self.setting)  # cause
        return values * warmth


class Kitchen(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.oven = Oven()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, values):
        values = values * self.weight
        values = self.oven.heated(values)
        return torch.sigmoid(values)


kitchen = torch.compile(Kitchen(), backend="eager")
batch = torch.tensor([1.0, 2.0, 4.0])
print(kitchen(batch).tolist())
Celsius.__float__ = lambda self: (self.degrees + 273.15) / 100
print(kitchen(batch).tolist())
