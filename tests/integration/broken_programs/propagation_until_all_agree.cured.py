"""A propagation asks whether all of its residuals are small.

kind: fell back to eager
advice: ask all of them at once

Made after a pattern common in PyG and kornia (several residuals).
"""

import torch
from torch import nn


def scatter_mean(values, index, size):
    total = values.new_zeros(size, values.shape[1]).index_add(0, index, values)
    count = values.new_zeros(size).index_add(0, index, torch.ones_like(index, dtype=values.dtype))
    return total / count.clamp(min=1)[:, None]


class Propagation(nn.Module):
    def __init__(self, width, alpha=0.3, tolerance=0.2):
        super().__init__()
        self.transform = nn.Linear(width, width)
        self.alpha, self.tolerance = alpha, tolerance

    def residuals(self, new, old):
        return [(a - b).abs().max() for a, b in zip(new.unbind(1), old.unbind(1))]

    def forward(self, x, edges):
        source, target = edges
        h = x = self.transform(x)
        for _ in range(2):
            new = (1 - self.alpha) * scatter_mean(h[source], target, x.shape[0]) + self.alpha * x
            settled = torch.stack([each < self.tolerance for each in self.residuals(new, h)]).all()
            h = torch.where(~settled, new, new * 1.0)
        return h, settled


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.encode = nn.Linear(3, width)
        self.propagate = Propagation(width)
        self.decode = nn.Linear(width, 2)

    def forward(self, x, edges):
        h, settled = self.propagate(self.encode(x).relu(), edges)
        return self.decode(h), settled


torch.manual_seed(0)
net = torch.compile(Net(), backend="eager")
edges = torch.randint(0, 12, (2, 40))
with torch.no_grad():
    for graph in range(3):
        out, settled = net(torch.randn(12, 3), edges)
        print(graph, f"{out.sum().item():.4f}", bool(settled))
