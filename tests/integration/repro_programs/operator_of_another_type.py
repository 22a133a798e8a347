"""An operator of the program's own gives float64, where its fake kernel says float32.

origin: graph
kind: wrong result
"""

import torch

SMALLEST = 1e-6


@torch.library.custom_op("survey::whiten", mutates_args=())
def whiten(x: torch.Tensor) -> torch.Tensor:
    values = x.double()
    return (values - values.mean(-1, keepdim=True)) / (values.std(-1, keepdim=True) + SMALLEST)


@whiten.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def scaled(x: torch.Tensor) -> torch.Tensor:
    return whiten(x + 1).sin().sum(-1) * 2


print(torch.compile(scaled)(torch.randn(8, 64)).dtype)
