"""A hook for all modules that came after the first call is not called.

An idea of our own.
kind: value
stage: guards
"""

import torch

layer = torch.nn.Linear(2, 2, bias=False)
torch.nn.init.eye_(layer.weight)


@torch.compile(backend="eager")
def step(x):
    return layer(x)  # cause


print(step(torch.ones(2)))
torch.nn.modules.module.register_module_forward_hook(lambda module, inputs, output: output * 5)
print(step(torch.ones(2)))
