"""A number that a tensor holds decides how a whole graph goes on."""

import torch


@torch.compile(backend="eager", fullgraph=True)
def scaled(x):
    total = x.abs().sum()
    return torch.where(total > 3, x / 2, x * 2)


for start in (1.0, 0.1):
    x = torch.full((4,), start)
    print(scaled(x).tolist())
