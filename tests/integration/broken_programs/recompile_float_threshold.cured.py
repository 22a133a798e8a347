import torch


@torch.compile(backend="eager", dynamic=True)
def scaled(x, rate):
    return x * rate


@torch.compile(backend="eager", dynamic=True)
def shifted(x, rate):
    return x - rate


for rate in (0.5, 0.4, 0.2, 0.1):
    updated = scaled if rate > 0.3 else shifted
    print(round(updated(torch.ones(4), rate).sum().item(), 4))
