"""torch.func around the program's functions: grad, vmap of grad, jacrev, jvp, hessian."""

import torch
from torch import nn
from torch.func import functional_call, grad, grad_and_value, hessian, jacrev, jvp, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
parameters = {name: p.detach() for name, p in model.named_parameters()}
x, y = torch.randn(5, 3), torch.randn(5)


def loss_of(weights, sample, target):
    out = functional_call(model, weights, (sample.unsqueeze(0),))
    return (out.squeeze() - target).pow(2)


def energy(v):
    return (v.sin() * v).sum()


print(grad(energy)(x[0]).tolist(), hessian(energy)(x[0]).tolist(), jacrev(torch.sin)(x[1]).tolist())
print([t.tolist() for t in jvp(energy, (x[0],), (x[1],))], vmap(energy)(x).tolist())
per_sample = vmap(grad(loss_of), in_dims=(None, 0, 0))(parameters, x, y)
print({name: g.pow(2).sum().item() for name, g in per_sample.items()})
gradients, value = grad_and_value(loss_of)(parameters, x[0], y[0])
print(value.item(), gradients["0.bias"].tolist())
