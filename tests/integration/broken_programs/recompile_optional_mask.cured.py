import torch


@torch.compile(backend="eager")
def masked(x, mask):
    return x * 2 * mask


print(masked(torch.ones(4), torch.ones(4)).tolist())
print(masked(torch.ones(4), torch.ones(4)).tolist())
