import torch


@torch.compile(backend="eager")
def kept(x):
    y = x.sin()
    before = x.clone()
    return y + before


print(kept(torch.ones(2)).tolist())
