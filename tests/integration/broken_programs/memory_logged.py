"""The memory of the process is noted between two layers.

kind: graph break
advice: take `self.log.note(

Made after a pattern common in threads on running out of memory (getrusage, psutil).
"""

import resource

import torch
from torch import nn


class MemoryLog:
    def __init__(self):
        self.rows = []

    def note(self, where):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # cause
        self.rows.append((where, peak))


class Net(nn.Module):
    def __init__(self, log, dim=16):
        super().__init__()
        self.log = log
        self.enc = nn.Linear(dim, dim)
        self.dec = nn.Linear(dim, dim)

    def forward(self, x):
        h = torch.relu(self.enc(x))
        self.log.note("encoder")
        y = self.dec(h)
        return y + x


torch.manual_seed(0)
log = MemoryLog()
net = Net(log)
fast = torch.compile(net, backend="eager")
for _ in range(4):
    y = fast(torch.randn(4, 16))
    print(f"{y.sum().item():.4f}")
for where, peak in log.rows:
    print(where, peak > 0)
