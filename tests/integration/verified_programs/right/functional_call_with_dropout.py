"""A module is called with other parameters, and draws random numbers."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5))
parameters = {name: each.detach() * 2 for name, each in model.named_parameters()}


@torch.compile
def step(parameters, x):
    return torch.func.functional_call(model, parameters, (x,))


for _ in range(3):
    torch.manual_seed(1)
    print(tuple(step(parameters, torch.ones(2, 4)).shape))
