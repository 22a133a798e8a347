import torch


@torch.compile(backend="eager")
def drawn(priorities, values, r):
    edges = torch.cumsum(priorities, 0) / priorities.sum()
    index = torch.searchsorted(edges, r).clamp(0, 7)
    chosen = torch.arange(8) == index
    return torch.where(chosen[:, None], values, 0.0).sum()


torch.manual_seed(0)
priorities, values = torch.rand(8), torch.randn(8, 3)
for _ in range(4):
    print(round(drawn(priorities, values, torch.rand(())).item(), 4))
