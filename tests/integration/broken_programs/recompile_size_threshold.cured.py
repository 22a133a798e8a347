import torch


@torch.compile(backend="eager", dynamic=True)
def doubled(x):
    return x * 2


@torch.compile(backend="eager", dynamic=True)
def increased(x):
    return x + 1


for n in (4, 5, 7, 8):
    x = torch.ones(n)
    print((doubled if x.size(0) > 6 else increased)(x).tolist())
