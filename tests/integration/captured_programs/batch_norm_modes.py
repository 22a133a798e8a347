"""Batch norm through train and eval, momentum None, no running stats, and stats that are reset."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.norms = nn.ModuleList(
            [
                nn.BatchNorm1d(4),
                nn.BatchNorm1d(4, momentum=None),
                nn.BatchNorm1d(4, track_running_stats=False),
            ]
        )

    def forward(self, x):
        h = self.linear(x)
        return sum((i + 1) * norm(h) for i, norm in enumerate(self.norms))


model = Net()
for step, mode in enumerate((True, True, False, True, False)):
    model.train(mode)
    out = model(torch.randn(6, 3))
    model.zero_grad()
    out.pow(3).sum().backward()
    first, averaged, _ = model.norms
    print(step, out.abs().sum().item(), first.running_var.tolist(), averaged.num_batches_tracked.item())
    print(averaged.running_mean.tolist(), model.linear.weight.grad.abs().sum().item())
model.norms[0].reset_running_stats()
print(model(torch.ones(2, 3)).tolist(), model.norms[0].num_batches_tracked)
try:
    model.train()(torch.ones(1, 3))
except ValueError as error:
    print(type(error).__name__, error)
