import torch

torch.set_default_dtype(torch.float64)


@torch.compile(backend="eager")
def shifted(x):
    return x + torch.ones(2, dtype=torch.float32)


print(shifted(torch.ones(2, dtype=torch.float32)).tolist())
print(shifted(torch.ones(2, dtype=torch.float32)).tolist())
