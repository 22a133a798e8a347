import torch


@torch.compile(backend="eager")
def scaled(x, factor):
    return x * factor


for factor in (2, 2.5, 3, 3.5):
    print(scaled(torch.ones(2), torch.tensor(float(factor))).tolist())
