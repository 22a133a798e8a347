"""A size that the program marks static, and that varies.

kind: recompile
advice: take the mark off
"""

import torch


@torch.compile(backend="eager", dynamic=True)
def scaled(x):
    return x * 2  # cause


for size in (3, 4, 5):
    x = torch.ones(size)
    torch._dynamo.mark_static(x, 0)
    print(scaled(x).tolist())
