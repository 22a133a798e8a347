"""torch.autograd.functional.hessian of the program's own function and of a module's loss."""

import torch
from torch import nn
from torch.autograd.functional import hessian

torch.manual_seed(0)


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


print(hessian(rosenbrock, torch.tensor([0.5, -0.3, 0.8])).tolist())
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))


def loss(x):
    return model(x).pow(2).sum()


print(hessian(loss, torch.tensor([0.1, 0.2])).tolist())
