import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin().cos()
    try:
        y = torch.where(y.sum() > 0, y + 1, y)
    except ValueError:
        pass
    return y * 2


print(model(torch.ones(3)).tolist())
