import copy

import torch

torch.manual_seed(0)
layer = torch.nn.Linear(2, 2)


@torch.compile(backend="eager")
def model(x, other):
    y = x.sin()
    return other(y)


print(model(torch.ones(2), copy.deepcopy(layer)).tolist())
