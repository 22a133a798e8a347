import torch


@torch.compile(backend="eager", dynamic=True)
def added(x, y):
    return x + y


@torch.compile(backend="eager", dynamic=True)
def put_together(x, y):
    return torch.cat([x, y])


for rows in (4, 5, 6):
    joined = added if rows == 4 else put_together
    print(joined(torch.ones(4), torch.zeros(rows)).sum().item())
