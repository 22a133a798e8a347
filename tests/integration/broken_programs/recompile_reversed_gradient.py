"""A gradient is reversed for a domain classifier, by a strength that grows with the training.

kind: recompile
advice: dynamic=True

Made after https://github.com/fungtion/DANN (a gradient reversal layer with `alpha`).
"""

import math

import torch
import torch.nn.functional as F
from torch import nn


class ReverseLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha  # cause
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad.neg() * ctx.alpha, None


class DomainNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.feature = nn.Linear(8, 16)
        self.label = nn.Linear(16, 3)
        self.domain = nn.Linear(16, 2)

    def forward(self, x, alpha):
        h = torch.relu(self.feature(x))
        reversed_h = ReverseLayer.apply(h, alpha)
        return self.label(h), self.domain(reversed_h)


def main():
    torch.manual_seed(0)
    model = DomainNet()
    compiled = torch.compile(model, backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    steps = 12
    for i in range(steps):
        p = i / steps
        alpha = 2.0 / (1.0 + math.exp(-10 * p)) - 1
        x = torch.randn(8, 8)
        labels, domains = compiled(x, alpha)
        loss = F.cross_entropy(labels, torch.randint(0, 3, (8,)))
        loss = loss + F.cross_entropy(domains, torch.randint(0, 2, (8,)))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(round(loss.item(), 3))


main()
