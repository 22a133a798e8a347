"""A function has an annotation more now, by which its result is weighted.

An idea of our own.
kind: value
stage: guards
"""

import torch


def sharpen(values, amount: float = 0.5):
    return values + amount * (values - values.mean())


def damp(values, amount: float = 0.25):
    return values * amount


class Pipeline(torch.nn.Module):
    def __init__(self, *steps):
        super().__init__()
        self.steps = steps
        self.gain = torch.nn.Parameter(torch.ones(3))

    def strength(self, step):
        declared = step.__annotations__  # cause
        return 2.0 if "return" in declared else 1.0

    def forward(self, values):
        values = values * self.gain
        for step in self.steps:
            strength = self.strength(step)
            values = step(values) * strength
        return values.cumsum(0)


model = torch.compile(Pipeline(sharpen, damp), backend="aot_eager")
batch = torch.tensor([1.0, 2.0, 4.0])
print(model(batch).tolist())
damp.__annotations__["return"] = torch.Tensor
print(model(batch).tolist())
