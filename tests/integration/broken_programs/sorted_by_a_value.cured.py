import torch


@torch.compile(backend="eager")
def ordered(x):
    rows = list((x * 2).unbind())
    together = torch.stack(rows)
    rows = together[together.sum(1).argsort(stable=True)]
    return rows.cos()


print(ordered(torch.tensor([[3.0, 4.0], [1.0, 2.0], [5.0, 0.5]])).tolist())
