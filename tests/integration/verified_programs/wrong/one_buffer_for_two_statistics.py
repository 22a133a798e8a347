"""A batch norm is given one buffer for its mean and its variance, and writes it twice.

An idea of our own.
kind: mutation
stage: AOTAutograd
"""

import torch
import torch.nn.functional as F


class Statistics(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("running", torch.ones(3))
        self.inner = torch.nn.Linear(3, 3)

    def normalized(self, x):
        return F.batch_norm(x, self.running, self.running, training=True, momentum=0.5)  # cause

    def forward(self, x):
        y = self.inner(x)
        y = torch.relu(y)
        y = self.normalized(y)
        return y + x


torch.manual_seed(0)
statistics = Statistics()
compiled = torch.compile(statistics, backend="aot_eager")
compiled(torch.arange(12.0).reshape(4, 3))
print(statistics.running.tolist())
