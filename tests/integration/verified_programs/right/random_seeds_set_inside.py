"""The function seeds torch itself."""

import torch


@torch.compile(backend="eager")
def step(x, seed):
    torch.manual_seed(seed)
    return x + torch.rand(2)


for seed in (1, 2, 1):
    print(step(torch.zeros(2), seed))
