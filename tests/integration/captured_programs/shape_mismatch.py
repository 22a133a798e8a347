"""A batch of the wrong width is a RuntimeError with eager's message, caught by the loop."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def distance(a, b):
    return (a - b).pow(2).sum()


for width in (4, 5, 4):
    try:
        print(model(torch.ones(2, width)).tolist())
    except RuntimeError as error:
        print(type(error).__name__, error)
for size in (3, 2):
    try:
        print(distance(torch.ones(3), torch.zeros(size)).item())
    except RuntimeError as error:
        print(type(error).__name__, error)
