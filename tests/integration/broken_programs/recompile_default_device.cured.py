import torch

torch.set_default_device("cpu")


@torch.compile(backend="eager")
def shifted(x):
    return x + torch.ones(2, device="cpu")


print(shifted(torch.ones(2)).tolist())
print(shifted(torch.ones(2)).tolist())
