import torch


@torch.compile(backend="eager")
def checked(x):
    y = x.log()
    assert torch.logical_not(y.isnan().any()), "not a number"
    return y.exp()


print(checked(torch.ones(2)).tolist())
