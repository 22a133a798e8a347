"""retain_grad on outputs of a function; gradients of non-leaves are read after backward."""

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 3)


def encode(x):
    mean = layer(x)
    return mean, mean * 2 + x


x = torch.randn(2, 3)
mean, shifted = encode(x)
mean.retain_grad()
shifted.retain_grad()
(shifted.sin().sum() + mean.pow(2).sum()).backward()
print(mean.grad.tolist(), shifted.grad.tolist(), mean.retains_grad)
print(layer.weight.grad.tolist())
mean, shifted = encode(x)
mean.retain_grad()
shifted.sum().backward()
print(mean.grad.tolist(), shifted.is_leaf)
