"""A compiled function calls another one."""

import torch


@torch.compile(backend="aot_eager")
def inner(x):
    return x.sin() + 1


@torch.compile(backend="aot_eager")
def outer(x):
    return inner(x) * inner(x + 1)


for _ in range(3):
    print(outer(torch.zeros(2)))
print(inner(torch.zeros(2)))
