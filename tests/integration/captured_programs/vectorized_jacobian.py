"""jacobian with vectorize, in forward and reverse mode, and create_graph for a loss on a Jacobian."""

import torch
from torch import nn
from torch.autograd.functional import hessian, jacobian

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))


def field(x):
    return model(x)


x = torch.tensor([0.3, -0.7])
for options in ({}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}):
    print(jacobian(field, x, **options).tolist())
divergence = jacobian(field, x, create_graph=True).diagonal().sum()
divergence.backward()
print(divergence.item(), model[0].weight.grad.tolist())
print(hessian(lambda v: field(v).pow(2).sum(), x, vectorize=True).tolist())
