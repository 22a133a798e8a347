import torch


@torch.compile(backend="eager")
def model(x):
    for _ in range(3):
        x = x.sin()
    return x


print(model(torch.ones(2)).tolist())
