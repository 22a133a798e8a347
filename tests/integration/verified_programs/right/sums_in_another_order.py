"""A sum of numbers that nearly cancel, added in another order."""

import torch

torch.manual_seed(0)


@torch.compile
def total(x):
    return x.sum(), (x * x).mean(), x.std()


x = torch.randn(10_000) * 1e4
print(len(total(x)))
