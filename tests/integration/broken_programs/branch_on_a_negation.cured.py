import torch


@torch.compile(backend="eager")
def turned(x):
    y = x.sin()
    y = torch.where(~torch.all(y > 0), -y, y)
    return y.cos()


print(turned(torch.ones(2)).tolist())
