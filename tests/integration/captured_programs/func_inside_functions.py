"""torch.func inside the program's functions, and vmap over an ensemble of models."""

import copy

import torch
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap

torch.manual_seed(0)


def langevin_step(x, noise):
    score = grad(lambda v: -(v**4).sum() / 4)(x)
    return x + 0.1 * score + 0.01 * noise


x = torch.ones(3)
for _ in range(3):
    x = langevin_step(x, torch.randn(3))
    print(x.tolist())
models = [nn.Linear(3, 2) for _ in range(4)]
parameters, buffers = stack_module_state(models)
base = copy.deepcopy(models[0]).to("meta")


def one_model(p, b, inputs):
    return functional_call(base, (p, b), (inputs,))


print(vmap(one_model, in_dims=(0, 0, None))(parameters, buffers, torch.ones(2, 3)).tolist())
print(torch.stack([m(torch.ones(2, 3)) for m in models]).sum().item())
