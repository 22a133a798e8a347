"""Forward-mode derivatives by dual numbers around the program's functions, and the Laplacian of a network."""

import torch
import torch.autograd.forward_ad as forward_ad
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Softplus(), nn.Linear(4, 1))


def energy(x):
    return (x.sin() * x.exp()).sum(-1)


x, direction = torch.randn(2, 3), torch.randn(2, 3)
for function in (energy, model):
    with forward_ad.dual_level():
        primal, tangent = forward_ad.unpack_dual(function(forward_ad.make_dual(x, direction)))
        print(primal.tolist(), None if tangent is None else tangent.tolist())


def laplacian(x):
    x = x.requires_grad_()
    (gradient,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
    parts = [torch.autograd.grad(gradient[:, i].sum(), x, create_graph=True)[0][:, i] for i in range(3)]
    return sum(parts)


residual = laplacian(x.clone())
residual.pow(2).mean().backward()
print(residual.tolist(), model[0].weight.grad.tolist())
