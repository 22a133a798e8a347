import torch


@torch.compile(backend="eager", dynamic=True)
def scaled(x):
    return x * 2


for size in (3, 4, 5):
    x = torch.ones(size)
    print(scaled(x).tolist())
