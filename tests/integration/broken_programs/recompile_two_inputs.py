"""Two inputs whose sizes are equal in some calls only.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch


@torch.compile(backend="eager", dynamic=True)
def both(x, y):
    return x.sum() + y.sum()  # cause


for n, m in ((5, 5), (6, 7), (8, 8)):
    print(both(torch.ones(n), torch.ones(m)).item())
