"""argmax, sort, topk, mode, unique and median where values are equal or NaN; casts that lose something."""

import torch

torch.manual_seed(0)


def ties(x):
    return (
        x.argmax(-1),
        x.argmin(-1),
        x.max(-1).indices,
        x.sort(dim=-1, stable=True).indices,
        x.cummax(-1).indices,
    )


def orders(x):
    return x.max(), x.min(), x.amax(), torch.maximum(x, x.flip(-1)), x.clamp(0, 1), x.sign(), x.isnan().any()


def casts(x):
    return x.int(), x.long(), x.bool(), x.half(), x.round(), x.trunc(), x.floor(), (x * 2).round(decimals=1)


print([t.tolist() for t in ties(torch.tensor([[1.0, 3.0, 3.0, 1.0], [2.0, 2.0, 2.0, 2.0]]))])
print([t.tolist() for t in ties(torch.tensor([[1.0, float("nan"), 3.0, float("nan")]]))])
print([t.tolist() for t in orders(torch.tensor([1.0, float("nan"), -0.0, float("inf")]))])
print([t.tolist() for t in casts(torch.tensor([-1.5, -0.5, 0.5, 1.5, 2.5, 100.25]))])
leaf = torch.tensor([3.0, 1.0, 3.0], requires_grad=True)
for reduce in (torch.max, torch.amax, lambda t: t.max(0).values, lambda t: t.clamp(1, 3).sum(), torch.median):
    leaf.grad = None
    reduce(leaf).backward()
    print(leaf.grad.tolist())
