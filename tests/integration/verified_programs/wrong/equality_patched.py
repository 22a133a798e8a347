"""When two labels are equal is decided otherwise now.

An idea of our own.
kind: value
stage: guards
"""

import torch


class Label:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return self.name == other

    __hash__ = None


def alike(self, other):
    return self.name.lower() == other.lower()


class Heads:
    def __init__(self, *names):
        self.labels = [Label(name) for name in names]

    def mixed(self, values, wanted):
        for label in self.labels:
            shifted = values.roll(1, 0)
            if label == wanted:  # cause
                values = values + shifted
        return values


class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = Heads("Left", "right", "Right")
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, values):
        values = self.norm(values)
        values = self.heads.mixed(values, "right")
        return values.cumsum(0)


reader = torch.compile(Reader(), backend="aot_eager")
batch = torch.tensor([1.0, 2.0, 4.0, 9.0])
with torch.no_grad():
    print(reader(batch).tolist())
    Label.__eq__ = alike
    print(reader(batch).tolist())
