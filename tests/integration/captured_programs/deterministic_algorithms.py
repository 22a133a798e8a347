"""use_deterministic_algorithms: what has no deterministic form raises, in forward and in backward."""

import torch
from torch import nn

torch.manual_seed(0)
torch.use_deterministic_algorithms(True)


def put(x, index, values):
    return x.index_put((index,), values, accumulate=True).sum()


def resized(x):
    return nn.functional.interpolate(x, scale_factor=2, mode="bilinear").sum()


def medians(x):
    return torch.median(x, dim=0).indices.sum()


def pooled(x):
    return nn.functional.max_unpool2d(*nn.functional.max_pool2d(x, 2, return_indices=True), 2).sum()


x = torch.randn(1, 2, 4, 4, requires_grad=True)
for name, call in (
    ("put", lambda: put(torch.zeros(4), torch.tensor([0, 0, 1]), torch.ones(3))),
    ("resized", lambda: resized(x)),
    ("medians", lambda: medians(torch.arange(6.0).reshape(3, 2))),
    ("pooled", lambda: pooled(x)),
):
    try:
        print(name, call().item())
    except RuntimeError as error:
        print(name, type(error).__name__, str(error).split(".")[0])
print(torch.empty(3).isnan().all().item(), torch.are_deterministic_algorithms_enabled())
