import torch


@torch.compile(backend="eager")
def model(x, n):
    y = x.sin()
    for _ in range(n):
        y = y * 2
    return y.sum()


print(model(torch.ones(4), int(torch.tensor([1, 2]).sum())).item())
