"""A monitor that a model is given counts which units are active.

kind: graph break
advice: take `self.monitor.observe(hidden)`

Made after a pattern common in threads on dead units (monitors of activations).
"""

import torch
from torch import nn


class Monitor:
    def __init__(self, units):
        self.counts = torch.zeros(units, dtype=torch.int64)

    def observe(self, activations):
        _, columns = torch.nonzero(activations > 0, as_tuple=True)  # cause
        self.counts += torch.bincount(columns, minlength=len(self.counts))


class Probe(nn.Module):
    def __init__(self, monitor):
        super().__init__()
        self.monitor = monitor
        self.up = nn.Linear(4, 10)
        self.down = nn.Linear(10, 2)

    def forward(self, x):
        hidden = torch.relu(self.up(x))
        self.monitor.observe(hidden)
        return self.down(hidden)


torch.manual_seed(0)
monitor = Monitor(10)
probe = torch.compile(Probe(monitor), backend="eager")
with torch.no_grad():
    for _ in range(4):
        print(round(probe(torch.randn(16, 4)).mean().item(), 4))
print(monitor.counts.tolist())
