"""torch.autograd.grad of a loss by an intermediate output, by inputs, and with allow_unused."""

import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder, other = nn.Linear(3, 2), nn.Linear(2, 3), nn.Linear(2, 2)


def autoencode(x):
    code = encoder(x).tanh()
    return code, decoder(code), other(code)


x = torch.randn(4, 3, requires_grad=True)
code, rebuilt, extra = autoencode(x)
loss = (rebuilt - x).pow(2).mean()
(by_code,) = torch.autograd.grad(loss, code, retain_graph=True)
print(by_code.tolist())
by_x, by_weight = torch.autograd.grad(loss, [x, decoder.weight], retain_graph=True)
print(by_x.tolist(), by_weight.tolist())
print([g is None for g in torch.autograd.grad(loss, [x, other.weight], allow_unused=True, retain_graph=True)])
try:
    torch.autograd.grad(loss, [x, other.weight], retain_graph=True)
except RuntimeError as error:
    print(type(error).__name__, error)
print(torch.autograd.grad(extra.sum(), x)[0].sum().item())
