"""Hutchinson's estimate of a Hessian's trace, by two passes of autograd.grad."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 6), nn.Softplus(), nn.Linear(6, 2))
x, y = torch.randn(8, 3), torch.randint(0, 2, (8,))
parameters = list(model.parameters())


def loss_of(inputs, labels):
    return nn.functional.cross_entropy(model(inputs), labels)


gradients = torch.autograd.grad(loss_of(x, y), parameters, create_graph=True)
estimates = []
for _ in range(4):
    signs = [torch.randint(0, 2, p.shape) * 2.0 - 1 for p in parameters]
    products = torch.autograd.grad(gradients, parameters, grad_outputs=signs, retain_graph=True)
    estimates.append(sum((p * s).sum().item() for p, s in zip(products, signs, strict=True)))
print(estimates)
