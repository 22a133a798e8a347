import torch


@torch.compile(backend="eager")
def resampled(x):
    y = x.sin().double()
    y = (y[:-1] + y[1:]) / 2
    return y * 2


print(resampled(torch.tensor([0.0, 1.0, 2.0])).tolist())
