"""How many annotations a function has is what it was in the first call.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Inspector:
    def hints(self, step):
        return [name for name in step.__annotations__ if name != "return"]  # cause

    def weight(self, step):
        return 1.0 / (1 + len(self.hints(step)))


def shifted(values, by=1):
    return values.roll(by, 0)


def squared(values):
    return values * values


class Recipe(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inspector = Inspector()
        self.steps = [squared, shifted]
        self.bias = torch.nn.Parameter(torch.zeros(3))

    def blended(self, values, step):
        done = step(values)
        weight = self.inspector.weight(step)
        return values + weight * (done - values)

    def forward(self, values):
        for step in self.steps:
            values = self.blended(values, step)
        return values + self.bias


recipe = torch.compile(Recipe(), backend="aot_eager")
batch = torch.tensor([1.0, 2.0, 4.0])
print(recipe(batch).tolist())
shifted.__annotations__["by"] = int
print(recipe(batch).tolist())
