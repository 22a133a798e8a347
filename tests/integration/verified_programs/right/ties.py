"""Sorting, topk and argmax of equal values."""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def order(x):
    return torch.sort(x, stable=True), torch.topk(x, 2), x.argmax(), x.argmin(), torch.unique(x)


print(order(torch.tensor([2.0, 1.0, 2.0, 1.0])))
