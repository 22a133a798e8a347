"""Gradients for each sample, by torch.func, are clipped and added up."""

import torch

torch.manual_seed(0)
weight = torch.randn(4)


def loss(weight, x):
    return (x @ weight).tanh().square()


@torch.compile
def step(weight, batch):
    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(weight, batch)
    norms = each.norm(dim=1, keepdim=True)
    return (each / norms.clamp(min=1.0)).sum(0)


for _ in range(3):
    weight = weight - 0.1 * step(weight, torch.randn(6, 4))
print(tuple(weight.shape))
