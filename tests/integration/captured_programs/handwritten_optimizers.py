"""Optimizers written by hand over lists of parameters, with state in dicts and None gradients."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.ModuleDict({"used": nn.Linear(3, 2), "unused": nn.Linear(3, 2)})
state = {}


@torch.no_grad()
def momentum_step(parameters, lr, momentum=0.9):
    for index, p in enumerate(parameters):
        if p.grad is None:
            continue
        buffer = state.setdefault(index, torch.zeros_like(p))
        buffer.mul_(momentum).add_(p.grad)
        p -= lr * buffer
        p.grad = None


def functional_step(parameters, gradients, lr):
    return [(p - lr * g).detach().requires_grad_() for p, g in zip(parameters, gradients, strict=True)]


for step in range(3):
    loss = model["used"](torch.randn(4, 3)).pow(2).mean()
    loss.backward()
    momentum_step(list(model.parameters()), 0.1 / (step + 1))
    print(step, loss.item(), sorted(state), [p.grad for p in model.parameters()])
weights = [torch.ones(3, requires_grad=True), torch.zeros(1, requires_grad=True)]
for step in range(3):
    loss = ((torch.arange(3.0) * weights[0]).sum() + weights[1] - 1).pow(2).sum()
    weights = functional_step(weights, torch.autograd.grad(loss, weights), 0.01)
    print(step, loss.item(), [w.tolist() for w in weights], weights[0].is_leaf)
