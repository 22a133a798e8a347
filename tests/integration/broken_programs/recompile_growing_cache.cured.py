import torch


@torch.compile(backend="eager", dynamic=False)
def attended(x, cache, used):
    return x + (cache * used).sum(0)


cache, used = torch.zeros(12, 4), torch.zeros(12, 1)
for step in range(12):
    cache[step], used[step] = torch.ones(4), 1
    print(attended(torch.ones(4), cache, used).tolist())
