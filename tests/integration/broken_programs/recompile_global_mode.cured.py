import torch


@torch.compile(backend="eager")
def fast(x):
    return x * 2


@torch.compile(backend="eager")
def exact(x):
    return x * 3


for scaled in (fast, exact):
    print(scaled(torch.ones(4)).tolist())
