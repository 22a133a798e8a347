"""requires_grad_ and detach inside functions, as adversarial examples and feature extraction do."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
loss_function = nn.CrossEntropyLoss()


def fgsm(x, y, epsilon):
    x = x.clone().detach().requires_grad_(True)
    loss = loss_function(model(x), y)
    loss.backward()
    return (x + epsilon * x.grad.sign()).detach()


def mark(x):
    x.requires_grad_()
    return x * 2


x, y = torch.randn(3, 4), torch.tensor([0, 1, 2])
adversarial = fgsm(x, y, 0.1)
print(adversarial.tolist(), adversarial.requires_grad, x.requires_grad)
print(loss_function(model(adversarial), y).item(), model[0].weight.grad.abs().sum().item())
doubled = mark(x)
print(x.requires_grad, doubled.requires_grad, doubled.is_leaf)
doubled.sum().backward()
print(x.grad.tolist())
