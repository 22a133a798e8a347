"""quantile, sort, topk, unique, nonzero, masked_select, searchsorted and bincount."""

import torch

torch.manual_seed(0)


def summary(x):
    values, order = x.sort(descending=True, stable=True)
    top = x.topk(3)
    return (
        torch.quantile(x, torch.tensor([0.1, 0.5, 0.9])),
        values,
        order,
        top.values,
        top.indices,
        x.median(),
    )


def by_mask(x):
    return x[x > 0], torch.masked_select(x, x < 0), x.nonzero().squeeze(-1), torch.where(x > 0.5)


def sets(n):
    values, inverse, counts = n.unique(return_inverse=True, return_counts=True)
    return (
        values,
        inverse,
        counts,
        torch.bincount(n),
        torch.searchsorted(values, n),
        torch.unique_consecutive(n),
    )


x = torch.randn(9)
print([t.tolist() for t in summary(x)])
for size in (9, 4, 6):
    print([t.tolist() if torch.is_tensor(t) else [p.tolist() for p in t] for t in by_mask(torch.randn(size))])
print([t.tolist() for t in sets(torch.tensor([3, 1, 1, 5, 3, 3]))])
leaf = torch.randn(5, requires_grad=True)
(by_mask(leaf)[0].sum() + summary(leaf)[5]).backward()
print(leaf.grad.tolist())
