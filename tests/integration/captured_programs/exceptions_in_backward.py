"""Backward raises: the program's own exceptions out of hooks and custom functions, caught and retried."""

import torch
from torch import nn

torch.manual_seed(0)


class BadGradient(ValueError):
    pass


class Check(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        ctx.limit = limit
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        if grad.abs().max() > ctx.limit:
            raise BadGradient(f"gradient above {ctx.limit}")
        return grad, None


model = nn.Linear(3, 2)


def loss_of(x, limit):
    return Check.apply(model(x), limit).pow(2).sum()


def refuse(grad):
    raise KeyError("refused")


for limit in (1e-3, 100.0):
    try:
        loss_of(torch.ones(1, 3), limit).backward()
    except BadGradient as error:
        print(type(error).__name__, error, model.weight.grad)
print(model.weight.grad.tolist())
handle = model.bias.register_hook(refuse)
try:
    loss_of(torch.ones(1, 3), 100.0).backward()
except KeyError as error:
    print(type(error).__name__, error)
handle.remove()
model.zero_grad()
loss_of(torch.ones(1, 3), 100.0).backward()
print(model.bias.grad.tolist())
