"""The program expects an error, and goes on: torch raises a subclass of it."""

import torch


@torch.compile(backend="eager")
def product(x, y):
    return x @ y


for shape in ((2, 2), (3, 2)):
    try:
        print(product(torch.ones(2, 2), torch.ones(shape)))
    except RuntimeError:
        print("shapes that do not match")
