"""A transposed tensor, and one that is not.

kind: recompile
advice: .contiguous()
"""

import torch


@torch.compile(backend="eager")
def shifted(x):
    return (x + 1).sum()  # cause


for x in (torch.ones(4, 4), torch.ones(4, 4).t()):
    print(shifted(x).item())
