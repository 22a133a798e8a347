"""A nested region is reused although the global that it reads has been assigned.

After pytorch/pytorch#191821.
kind: value
stage: tracing
"""

import torch

current = torch.tensor(0)


@torch.compiler.nested_compile_region
def region():
    return current + 1  # cause


@torch.compile(backend="eager")
def step(x):
    global current
    for _ in range(2):
        current = x
        x = region()
    return x


print(step(torch.tensor(0)))
