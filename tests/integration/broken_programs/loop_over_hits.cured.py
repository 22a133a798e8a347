import torch


@torch.compile(backend="eager")
def total(x):
    mask = x[:, 0] > 0
    return torch.where(mask[:, None], x, 0.0).sum(0)


for first in (1.0, -1.0):
    print(total(torch.tensor([[first, 2.0], [3.0, 4.0], [-5.0, 6.0]])).tolist())
