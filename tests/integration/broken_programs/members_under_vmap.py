"""The members of an ensemble are compiled, and called under `vmap`, where torch compiles nothing.

kind: fell back to eager
advice: torch.compile(torch.func.vmap(f))

Made after https://github.com/pytorch/pytorch/issues/128711
"""

import torch
from torch.func import functional_call, stack_module_state, vmap


def net():
    return torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


torch.manual_seed(0)
members = [net() for _ in range(4)]
weights, buffers = stack_module_state(members)
shape_of_one = net().to("meta")


def predict(weights, buffers, x):  # cause
    return functional_call(shape_of_one, (weights, buffers), (x,))


forward = vmap(torch.compile(predict, backend="aot_eager"), in_dims=(0, 0, None))
for _ in range(2):
    print(round(forward(weights, buffers, torch.ones(5, 3)).sum().item(), 4))
