"""Hooks of parameters change their gradients and note the norms, which the program reads between steps."""

import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
norms = []


def clip(gradient):
    norms.append(float(gradient.norm()))
    return gradient.clamp(-0.1, 0.1)


for each in model.parameters():
    each.register_hook(clip)
step = torch.compile(model)
for factor in (1.0, 2.0, 3.0):
    model.zero_grad()
    (step(torch.ones(3, 4)) * factor).sum().backward()
    print(len(norms), round(norms[-1], 3), round(float(model.weight.grad.sum()), 3))
