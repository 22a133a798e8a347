"""The C++ compiler rejects what Inductor writes.

After pytorch/pytorch#194706.
origin: source
kind: exception
"""

import torch


def chained(x):
    return torch.sum(torch.mm(torch.mm(torch.prod(x) + x, torch.sum(x) + x), torch.sum(x) + x))


x = (torch.arange(1, 10, dtype=torch.float16) / 10).reshape(3, 3)
print(torch.compile(torch.func.jacfwd(chained))(x))
