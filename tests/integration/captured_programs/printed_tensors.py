"""A loss is printed as a tensor, which names its grad_fn."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)


def loss_of(x):
    return model(x).pow(2).mean()


loss = loss_of(torch.ones(2, 3))
print(loss)
print(repr(model(torch.zeros(1, 3))), str(loss.detach()))
print(f"{loss} {loss:.4f} {[loss]}")
