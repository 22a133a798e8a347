"""float64, float16, bfloat16 and a changed default dtype; casts of modules between calls."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def mixed(x):
    return (
        x.double() + torch.ones(3),
        x.half() * 2,
        x.to(torch.bfloat16).sum(),
        x.int(),
        x.type(torch.float64),
    )


x = torch.randn(2, 3)
print(model(x).tolist(), [t.dtype for t in mixed(x)], mixed(x)[0].tolist())
model.double()
model(x.double()).sum().backward()
print(model(x.double()).tolist(), model[0].weight.grad.dtype, model[0].weight.grad.sum().item())
try:
    model(x)
except RuntimeError as error:
    print(type(error).__name__, error)
torch.set_default_dtype(torch.float64)


def constants(v):
    return v + torch.tensor(1.0), torch.zeros(2), torch.arange(3) / 2, v * 0.1


print([t.dtype for t in constants(torch.ones(2))], [t.dtype for t in constants(torch.ones(2).float())])
torch.set_default_dtype(torch.float32)
print([t.dtype for t in constants(torch.ones(2))])
