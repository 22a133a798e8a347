import torch


@torch.compile(backend="eager")
def rows(x):
    y = x.sin()
    return y.reshape(3, 5)


x = torch.ones(4)
print(rows(x).tolist() if x.numel() == 15 else "no rows")
print(rows(torch.zeros(15)).tolist())
