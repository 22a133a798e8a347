"""A checkpointed part draws its random numbers again in the backward."""

import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
part = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Tanh())


@torch.compile(backend="aot_eager")
def step(x):
    return checkpoint(part, x, use_reentrant=False).sum()


x = torch.ones(3, 4, requires_grad=True)
for _ in range(3):
    step(x).backward()
print(tuple(x.grad.shape))
