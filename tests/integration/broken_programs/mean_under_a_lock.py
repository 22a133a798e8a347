"""An augmentation keeps a running mean behind a lock, and goes on with it.

kind: fell back to eager
advice: around the call

Made after https://github.com/pytorch/pytorch/issues/133483
"""

import threading

import torch
from torch import nn


class RunningStats:
    def __init__(self, dim):
        self.lock = threading.Lock()
        self.mean = torch.zeros(dim)

    def update(self, x):
        with self.lock:  # cause
            self.mean = self.mean.lerp(x.mean(0), 0.1)
        return self.mean


class Augment(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.stats = RunningStats(dim)
        self.mix = nn.Linear(dim, dim)

    def forward(self, x):
        return torch.relu(self.mix(x - self.stats.update(x)))


torch.manual_seed(0)
augment = Augment().eval()
compiled = torch.compile(augment, backend="eager")
with torch.no_grad():
    for _ in range(3):
        print(f"{compiled(torch.randn(6, 4)).mean().item():.5f}")
