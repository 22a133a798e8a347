"""Derivatives for each example, by vmap and grad."""

import torch


@torch.compile(backend="aot_eager")
def slopes(w, x):
    return torch.func.vmap(torch.func.grad(lambda w, x: (w * x).sin().sum()), in_dims=(None, 0))(w, x)


print(slopes(torch.ones(2), torch.zeros(3, 2)))
