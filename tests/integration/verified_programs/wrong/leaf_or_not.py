"""Whether a tensor was made by an operation is what it was in the first call.

An idea of our own.
kind: value
stage: guards
"""

import torch


def penalty(weight, rate):
    decay = weight.pow(2).sum()
    if weight.is_leaf:  # cause
        return rate * decay
    return rate * decay / weight.numel()


class Regression(torch.nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate
        self.bias = torch.nn.Parameter(torch.zeros(3))

    def forward(self, x, weight):
        hidden = torch.nn.functional.linear(x, weight, self.bias)
        loss = hidden.sigmoid().mean()
        loss = loss + penalty(weight, self.rate)
        return loss * 10


torch.manual_seed(0)
regression = torch.compile(Regression(0.5), backend="eager")
weight = torch.randn(3, 4, requires_grad=True)
x = torch.randn(2, 4)
print(regression(x, weight).detach())
print(regression(x, weight * 1.0).detach())
