"""Detached arrays, numpy functions in the middle, from_numpy that shares memory, and 0-d results."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 3)


def through_numpy(x):
    array = x.detach().numpy()
    ranks = np.argsort(array, axis=-1)
    return torch.from_numpy(ranks.copy()).float() + x * float(np.percentile(array, 30))


def shares(array):
    t = torch.from_numpy(array)
    t += 1
    return t.sum()


def metric(predicted, truth):
    return np.mean(predicted.detach().numpy() == truth.numpy()), (predicted == truth).float().mean().item()


x = torch.randn(2, 3)
out = through_numpy(layer(x))
out.sum().backward()
print(out.tolist(), layer.weight.grad.abs().sum().item())
array = np.zeros(3)
print(shares(array).item(), array.tolist(), shares(array).dtype)
print(metric(torch.tensor([1, 2, 3]), torch.tensor([1, 0, 3])), type(metric(x, x)[0]).__name__)
try:
    layer(x).numpy()
except RuntimeError as error:
    print(type(error).__name__, error)
