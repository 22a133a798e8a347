"""The logarithm of a hyperbolic cosine, written so that nothing overflows."""

import math

import torch
import torch.nn.functional as F


@torch.compile
def log_cosh(output, target):
    away = (output - target).abs()
    return (away + F.softplus(-2.0 * away) - math.log(2.0)).mean()


x = torch.linspace(-300, 300, 13, requires_grad=True)
loss = log_cosh(x, torch.zeros(13))
loss.backward()
print(round(loss.item(), 2), x.grad.sign().tolist())
