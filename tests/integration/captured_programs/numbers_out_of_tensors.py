""".item(), .tolist(), int(), float(), bool(), round, format and their types inside functions."""

import torch


def numbers(x):
    total = x.sum().item()
    return total, int(x[0]), float(x.mean()), x.tolist(), round(x.max().item(), 3), len(x), bool(x.any())


def words(x):
    return f"{x.sum():.3f} {x[0]:>8} {x.shape} {x.dtype} {x!r}"


def by_size(x):
    n = x.numel()
    return x / n, n // 2, x.size(), x.shape[-1] * 1.5, torch.Size([2, *x.shape])


for x in (torch.tensor([1.5, 2.25]), torch.tensor([3, 4, 5]), torch.tensor([True, False])):
    print([(type(n).__name__, n) for n in numbers(x.to(torch.float64) if x.dtype != torch.bool else x * 1.0)])
    print(words(x))
    print([(type(n).__name__, n) for n in by_size(x)[1:]], by_size(x)[0].tolist())
