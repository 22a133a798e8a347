"""Views of an argument are returned and written by the caller."""

import torch


@torch.compile(backend="aot_eager")
def halves(x):
    x.mul_(2)
    return x[:2], x[2:].view(1, 2), x


first, second, whole = halves(torch.arange(4.0))
first.add_(10)
print(first, second, whole)
