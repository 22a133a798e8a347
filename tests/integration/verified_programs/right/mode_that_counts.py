"""A mode counts what the program calls of torch, in the backward as well."""

import collections

import torch

calls = collections.Counter()


class Counting(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        calls[getattr(func, "__name__", str(func))] += 1
        return func(*args, **(kwargs or {}))


@torch.compile(backend="aot_eager")
def step(x):
    return (x * 2).sum()


x = torch.ones(3, requires_grad=True)
step(x).backward()
with Counting():
    step(x).backward()
    step(x).backward()
print(sorted(set(calls) - {"mul", "sum", "backward"}), x.grad)
