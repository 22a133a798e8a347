import torch


@torch.compile(backend="eager")
def doubled(x):
    return x * 2


for function in (lambda x: x + 1, lambda x: x + 2, lambda x: x + 3):
    print(doubled(function(torch.ones(2))).tolist())
