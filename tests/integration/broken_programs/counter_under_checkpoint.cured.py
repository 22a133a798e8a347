import torch
from torch.utils.checkpoint import checkpoint


class Statistics:
    calls = 0


statistics = Statistics()


def block(x):
    return x.sin() * 2


@torch.compile(backend="eager")
def forward(x):
    return checkpoint(block, x + 1, use_reentrant=False).sum()


with torch.no_grad():
    for value in (1.0, 2.0):
        statistics.calls += 1
        print(forward(torch.full((4,), value)).item(), statistics.calls)
