"""A hook on a tensor that is made inside.

kind: graph break
advice: compiled
"""

import torch


@torch.compile(backend="aot_eager")
def hooked(x):
    y = x.sin()
    y.register_hook(lambda gradient: gradient * 2)  # cause
    return y.sum()


x = torch.ones(2, requires_grad=True)
hooked(x).backward()
print(x.grad.tolist())
