"""Handlers are kept by the `id` of a bound method, which Python makes anew each time.

kind: compiler error
advice: __func__

Made after https://github.com/pytorch/pytorch/issues/190171
"""

import torch
from torch import nn


class Scored(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 2)
        self.weights = {}
        self.register(self.by_mean, 2.0)

    def register(self, method, weight):
        self.weights[id(method)] = weight

    def weight_of(self, method):
        return self.weights.get(id(method), 2.0)  # cause

    def by_mean(self, y):
        return y.mean()

    def forward(self, x):
        y = self.net(x).relu()
        weight = self.weight_of(self.by_mean)
        return self.by_mean(y) * weight


torch.manual_seed(0)
plain = Scored()
model = torch.compile(plain, backend="eager")
for _ in range(3):
    x = torch.randn(2, 3)
    try:
        print(round(model(x).item(), 4))
    except AssertionError:
        print(round(plain(x).item(), 4))
