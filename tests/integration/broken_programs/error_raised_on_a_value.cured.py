import torch


@torch.compile(backend="eager")
def checked(x):
    y = x.log()
    return y.exp(), y


result, y = checked(torch.tensor([1.0, 2.0]))
if torch.isnan(y).any():
    raise ValueError("not a number")
print(result.tolist())
