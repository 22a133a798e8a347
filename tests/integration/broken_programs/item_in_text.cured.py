import torch


@torch.compile(backend="eager")
def named(x):
    y = x.sin()
    return y.cos(), y.sum()


result, total = named(torch.ones(2))
print((result, f"sum {total.item():.2f}"))
