"""Which of two zeros is the smaller one is decided otherwise, and a division brings it to light.

An idea of our own.
kind: value
stage: decompositions
"""

import torch


class Edges:
    def __init__(self, step):
        self.step = step

    def nearest(self, x, y):
        low = torch.round(x / self.step)
        high = torch.round(y / self.step)
        edge = torch.fmin(low, high)  # cause
        return edge * self.step


class Slopes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.edges = Edges(0.5)

    def forward(self, x, y):
        edge = self.edges.nearest(x, y)
        steep = 1.0 / edge
        flat = steep.clamp(-10.0, 10.0)
        return torch.tanh(flat)


slopes = torch.compile(Slopes())
print(slopes(torch.tensor([0.1, -0.1, 1.0]), torch.tensor([-0.1, 0.1, 2.0])).tolist())
