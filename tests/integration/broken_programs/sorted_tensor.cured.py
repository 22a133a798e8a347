import torch


@torch.compile(backend="eager")
def ordered(x):
    y = x.sin()
    z = torch.sort(y).values
    return z * 2


for number in range(3):
    print(ordered(torch.tensor([2.0, 1.0 + number, 0.0])).tolist())
