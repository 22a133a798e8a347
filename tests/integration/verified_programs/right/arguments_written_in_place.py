"""Arguments are written in place, also through a view."""

import torch


@torch.compile(backend="aot_eager")
def update(x, y):
    x.mul_(2)
    y[1:].add_(x[1:])
    return x + y


x, y = torch.ones(4), torch.arange(4.0)
for _ in range(3):
    print(update(x, y), x, y)
