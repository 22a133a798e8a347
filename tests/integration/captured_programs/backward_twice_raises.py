"""A second backward without retain_graph raises as in eager, and the model is as usable as before."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def loss_of(x):
    return model(x).pow(2).mean()


loss = loss_of(torch.randn(4, 3))
loss.backward()
try:
    loss.backward()
except RuntimeError as error:
    print(type(error).__name__, error)
model.zero_grad()
loss_of(torch.ones(4, 3)).backward()
print([parameter.grad.norm().item() for parameter in model.parameters()])
