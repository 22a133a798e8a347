"""A potential asks for the gradient with respect to what it is given.

kind: graph break
advice: before the call of

Made after https://github.com/facebookresearch/fairchem/pull/2126
"""

import torch


@torch.compile(backend="eager")
def energy(data):
    positions, charges = data["positions"], data["charges"]
    positions.requires_grad_(True)  # cause
    return (charges / (1 + positions.pow(2).sum(1))).sum()


def force(positions, charges):
    data = {"positions": positions, "charges": charges}
    (slope,) = torch.autograd.grad(energy(data), positions)
    return -slope


for step in range(2):
    print(force(torch.arange(6.0).reshape(2, 3) + step, torch.ones(2)).sum().item())
