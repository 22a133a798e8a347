import torch


@torch.compile(backend="eager")
def halved(y):
    return y / 2


def shrunk(x):
    y = x.sin()
    while y.norm() > 1:
        y = halved(y)
    return y.cos()


print(shrunk(torch.linspace(0, 3, 8)).tolist())
