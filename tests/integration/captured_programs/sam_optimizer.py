"""Sharpness-aware minimisation: weights are moved and moved back in place between two passes."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 6), nn.GELU(), nn.Linear(6, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


@torch.no_grad()
def perturb(parameters, rho):
    norm = torch.stack([p.grad.norm() for p in parameters]).norm()
    moves = [p.grad * rho / norm for p in parameters]
    for p, move in zip(parameters, moves, strict=True):
        p.add_(move)
    return moves


@torch.no_grad()
def restore(parameters, moves):
    for p, move in zip(parameters, moves, strict=True):
        p.sub_(move)


def loss_of(x, y):
    return nn.functional.cross_entropy(model(x), y, label_smoothing=0.1)


parameters = list(model.parameters())
for step in range(3):
    x, y = torch.randn(5, 3), torch.randint(0, 2, (5,))
    first = loss_of(x, y)
    first.backward()
    moves = perturb(parameters, 0.05)
    optimizer.zero_grad()
    second = loss_of(x, y)
    second.backward()
    restore(parameters, moves)
    optimizer.step()
    optimizer.zero_grad()
    print(step, first.item(), second.item(), parameters[0].norm().item())
