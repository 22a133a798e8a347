import torch


def helper(x):
    return x + 1


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    y = helper(y)
    return y.cos()


print(model(torch.ones(2)).tolist())
