import torch


@torch.compile(backend="eager")
def scaled(x):
    return x * 2


print(scaled(torch.ones(4)).tolist())
x = torch.ones(4)
print(scaled(x).tolist())
