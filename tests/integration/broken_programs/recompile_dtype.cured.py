import torch


@torch.compile(backend="eager")
def doubled(x):
    return (x * 2).sum()


for dtype in (torch.float32, torch.float64):
    print(doubled(torch.ones(4, dtype=dtype).to(torch.float32)).item())
