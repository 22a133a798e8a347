"""The program ends by sys.exit in a training loop, with an atexit handler that prints."""

import atexit
import sys

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
atexit.register(lambda: print("at exit", model(torch.ones(1, 2)).item()))


def check(loss):
    if loss.item() < 1:
        sys.exit(7)
    return loss * 2


for step in range(10):
    print(step, check(model(torch.full((1, 2), 5.0 - step)).pow(2).sum()).item())
