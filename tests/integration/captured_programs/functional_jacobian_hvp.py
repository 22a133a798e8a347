"""jacobian, vjp, jvp, vhp and hvp of torch.autograd.functional; jvp and hvp use the double-backward trick."""

import torch
from torch.autograd import functional

torch.manual_seed(0)


def field(x, y):
    return torch.sin(x) * y, (x * y).sum().exp()


def energy(x):
    return (x.pow(3) * torch.cos(x)).sum()


x, y = torch.tensor([0.1, 0.7, -0.4]), torch.tensor([1.5, -0.2, 0.3])
print([[part.tolist() for part in row] for row in functional.jacobian(field, (x, y))])
print([part.tolist() for part in functional.vjp(field, (x, y), (torch.ones(3), torch.tensor(2.0)))[1]])
print([part.tolist() for part in functional.jvp(field, (x, y), (y, x))[1]])
print(functional.vhp(energy, x, y)[1].tolist())
print(functional.hvp(energy, x, y)[1].tolist())
