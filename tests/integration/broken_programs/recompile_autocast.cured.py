import torch


@torch.compile(backend="eager")
def product(x, y):
    return x @ y


def report(x):
    print(product(x, x).float().sum().item())


x = torch.ones(4, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    report(x)
    report(x)
