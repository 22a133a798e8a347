"""Weights written under no_grad between steps, in-place on a leaf with grad: an error as in eager."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 2)


def clip_weights(module, bound):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.clamp_(-bound, bound)


def add_in_place(x):
    x += 1
    return x.sum()


for bound in (1.0, 0.2, 0.1):
    clip_weights(model, bound)
    model.zero_grad()
    model(torch.ones(2, 3)).sum().backward()
    print(bound, model.weight.tolist(), model.weight._version, model.weight.grad.tolist())
for leaf in (torch.zeros(2), torch.zeros(2, requires_grad=True)):
    try:
        print(add_in_place(leaf).item(), leaf.tolist())
    except RuntimeError as error:
        print(type(error).__name__, error, leaf.tolist())
