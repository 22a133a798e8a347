import torch


@torch.compile(backend="eager")
def scaled(x):
    y = x.sigmoid()
    assert torch.logical_and(y.min() > 0, y.max() < 1)
    return y * 2


print(scaled(torch.tensor([1.0, 4.0])).tolist())
