import torch


@torch.compile(backend="eager")
def increased(x):
    return x + 1


@torch.compile(backend="eager")
def doubled(x):
    return x * 2 + 1


for double in (False, True, False):
    print((doubled if double else increased)(torch.ones(4)).tolist())
