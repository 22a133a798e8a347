import torch


class Scale:
    value = 2


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    return y * Scale.value


print(model(torch.ones(3)).tolist())
