"""The hyperbolic cosine of 89 fits, and Inductor's is infinite.

An idea of our own.

kind: value
stage: inductor
"""

import torch
from torch import nn


class LogCosh(nn.Module):
    def __init__(self, weight: float) -> None:
        super().__init__()
        self.weight = weight

    def distance(self, output, target):
        away = output - target
        cosh = torch.cosh(away)  # cause
        return torch.log(cosh)

    def forward(self, output, target):
        loss = self.distance(output, target)
        loss = loss * self.weight
        return torch.where(loss > 1e6, torch.zeros_like(loss), loss).mean()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.loss = LogCosh(0.5)

    def forward(self, x, target):
        output = torch.tanh(x) * 2
        return self.loss(output, target)


compiled = torch.compile(Net())
print(compiled(torch.tensor([0.5, -1.0, 2.0]), torch.tensor([0.5, 87.5, 3.0])).item())
