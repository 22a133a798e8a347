import torch

cache = {}


@torch.compile(backend="eager")
def cached(x):
    y = x.sin()
    cache["y"] = 1
    return y.cos()


print(cached(torch.ones(2)).tolist(), len(cache))
