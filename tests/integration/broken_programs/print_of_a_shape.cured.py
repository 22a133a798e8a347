import torch


@torch.compile(backend="eager")
def shown(x):
    y = x.sin()
    return y.cos(), y


result, y = shown(torch.ones(2))
print("shape", y.shape)
print(result.tolist())
