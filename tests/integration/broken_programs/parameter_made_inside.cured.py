import torch


@torch.compile(backend="eager")
def model(x, weight):
    return weight * 2


print(model(torch.ones(3), torch.nn.Parameter(torch.ones(3).sin())).tolist())
