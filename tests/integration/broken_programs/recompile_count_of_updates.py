"""A metric counts its updates, and does something else in the first.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after https://github.com/Lightning-AI/torchmetrics/issues/1780
"""

import torch


class Metric(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(()))
        self.updates = 0

    def forward(self, x):
        self.updates += 1  # cause
        return self.total + x.sum() / self.updates


metric = torch.compile(Metric(), backend="eager")
for _ in range(6):
    print(round(metric(torch.ones(3)).item(), 4))
