"""Which of two zeros is the larger one is decided otherwise.

An idea of our own.
kind: value
stage: inductor
"""

import torch


def larger(a, b):
    return torch.maximum(a, b)  # cause


class Direction(torch.nn.Module):
    """The side on which a rounded sum lies."""

    def __init__(self):
        super().__init__()
        self.scale = 3.0

    def rounded(self, x):
        return torch.round(x * self.scale)

    def forward(self, x, y):
        left = self.rounded(x)
        right = self.rounded(y)
        larger_one = larger(left, right)
        return torch.copysign(torch.ones_like(x), larger_one)


direction = torch.compile(Direction())
x = torch.tensor([0.1, -0.1, 0.0, 2.0])
y = torch.tensor([-0.1, 0.1, -0.0, 1.0])
print(direction(x, y).tolist())
