import torch


@torch.compile(backend="eager")
def doubled(x):
    return x * 2


@torch.compile(backend="eager", dynamic=True)
def scaled(x):
    return x + 1


for n in (4, 5, 6, 7):
    x = torch.ones(n)
    print((doubled if n == 5 else scaled)(x).tolist())
