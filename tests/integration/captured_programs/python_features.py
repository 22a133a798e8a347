"""Comprehensions, match, walrus, star-arguments, sorting, closures in loops and sets around tensors."""

import functools
import itertools
from collections import Counter, defaultdict, deque

import torch

torch.manual_seed(0)


def dispatch(command, x):
    match command:
        case ("scale", factor):
            return x * factor
        case {"shift": amount, **rest}:
            return x + amount + len(rest)
        case str() as name if name.startswith("neg"):
            return -x
        case _:
            return x


def collect(*tensors, start=0, **named):
    window, groups = deque(maxlen=2), defaultdict(list)
    for index, t in enumerate(itertools.chain(tensors, named.values()), start):
        window.append(t)
        groups[index % 2].append(t.sum())
    counts = Counter(len(t) for t in tensors)
    total = functools.reduce(torch.add, window)
    if (n := len(groups[0])) > 1:
        total = total * n
    return total, {k: torch.stack(v) for k, v in groups.items()}, counts


def closures(x):
    functions = [lambda v, i=i: v * i for i in range(3)]
    flags = any(f(x).sum() > 2 for f in functions), all(f(x).sum() >= 0 for f in functions)
    return (
        [f(x) for f in sorted(functions, key=lambda f: -f(x).sum().item())],
        flags,
        {t.ndim for t in (x, x[None])},
    )


x = torch.ones(2)
for command in (("scale", 3.0), {"shift": 1.0, "a": 0}, "negative", None):
    print(dispatch(command, x).tolist())
total, groups, counts = collect(x, x * 2, x * 3, start=1, last=x * 4)
print(total.tolist(), {k: v.tolist() for k, v in groups.items()}, counts)
outs, flags, dims = closures(x)
print([t.tolist() for t in outs], flags, dims)
