import torch


@torch.compile(backend="eager")
def weighted(x, level):
    place = (level // 6 % 3).long()
    return x * torch.tensor([1.0, 0.5, 2.0])[place.reshape(1)][0]


for n in range(4):
    print(weighted(torch.ones(4), torch.tensor(6.0 * n)).sum().item())
