"""A conditional expression on what a tensor holds.

kind: graph break
advice: torch.where
"""

import torch


class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.inner(x)
        scale = y * 2 if y.mean() > 0 else y / 2  # cause
        return scale.relu()


torch.manual_seed(0)
model = torch.compile(Gate(), backend="eager")
for _ in range(3):
    print(model(torch.randn(2, 4)).sum().item())
