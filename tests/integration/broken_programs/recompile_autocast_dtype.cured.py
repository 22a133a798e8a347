import torch


@torch.compile(backend="eager")
def product(x):
    return (x @ x).float().sum()


for _ in range(2):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        print(product(torch.ones(4, 4)).item())
