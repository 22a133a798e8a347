"""The copy of what an operator writes is left out: it reads what it has written already.

After https://github.com/pytorch/pytorch/issues/198031
kind: mutation
stage: inductor
"""

import torch


@torch.library.custom_op("corpus::reverse_into", mutates_args=("target",))
def reverse_into(source: torch.Tensor, target: torch.Tensor) -> None:
    size = source.shape[0]
    for k in range(size):
        target[size - 1 - k] = source[k]


@torch.compile
def step(x):
    before = x.clone()
    reverse_into(before, x)  # cause
    return x * 2.0


x = torch.arange(8.0)
step(x)
print(x)
