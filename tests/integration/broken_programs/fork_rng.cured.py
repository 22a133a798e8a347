import torch


@torch.compile(backend="eager")
def noisy(x):
    y = x.sin()
    y = y + torch.ones(2)
    return y.cos()


with torch.random.fork_rng():
    result = noisy(torch.ones(2))
print(result.tolist())
