import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    return y.cos()


print(model(torch.ones(2)).tolist())
