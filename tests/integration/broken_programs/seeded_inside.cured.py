import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    return y.cos()


torch.manual_seed(0)
print(model(torch.ones(2)).tolist())
