import torch
from torch.utils.checkpoint import checkpoint

seen = []


def block(x):
    y = x.sin()
    return y * 2


@torch.compile(backend="eager")
def forward(x):
    y = checkpoint(block, x + 1, use_reentrant=False)
    return y.sum()


with torch.no_grad():
    for value in (1.0, 2.0):
        print(forward(torch.full((4,), value)).item())
        seen.append(4)
