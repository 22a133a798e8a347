"""Hooks on parameters: register_hook changes gradients, the post-accumulate hook steps in backward."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizers = {p: torch.optim.SGD([p], lr=0.05) for p in model.parameters()}
order = []


def step_and_free(parameter):
    order.append(tuple(parameter.shape))
    optimizers[parameter].step()
    optimizers[parameter].zero_grad()


for parameter in model.parameters():
    parameter.register_post_accumulate_grad_hook(step_and_free)
model[0].weight.register_hook(lambda g: g.clamp(-0.1, 0.1))


def loss_of(x):
    return model(x).pow(2).mean()


for _ in range(4):
    loss = loss_of(torch.randn(5, 3))
    loss.backward()
    print(loss.item(), [p.grad for p in model.parameters()])
print(sorted(set(order)), model[0].weight.tolist())
